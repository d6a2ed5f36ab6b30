// The files of one space: how they get to the server, and the addresses from which they are loaded.

import type { Environment } from './environment.ts';
import { SmartspaceError, type Call } from './http.ts';
import type { Attachment, FilePart, FileUrlOptions, Space } from './types.ts';
import type { Uploads } from './uploads.ts';

// A download may take a while to begin.
const URL_RESERVE_MS = 60_000;
// How long the server lets a URL live. The clock of this computer may differ from the server's.
const URL_LIFE_MS = 15 * 60_000;

export interface Attachments extends Pick<Space, 'attach' | 'attachment' | 'fileUrl'> {
  /** The part of a message for this attachment, with what is known about it. */
  partOf(attachment: string | Attachment): FilePart;
}

export interface AttachmentsContext {
  env: Environment;
  call: Call;
  /** The path of the space. */
  path: string;
  uploads: Uploads;
}

export function createAttachments(context: AttachmentsContext): Attachments {
  const { env, call, path, uploads } = context;
  const known = new Map<string, Attachment>();
  // Calls at the same moment share one request.
  const urls = new Map<string, { url: Promise<string>; until: number }>();
  const pathOf = (id: string) => `${path}/attachments/${encodeURIComponent(id)}`;

  function note(found: Attachment) {
    known.set(found.id, found);
    if (found.url) urls.set(found.id, { url: Promise.resolve(found.url), until: endOf(found) });
    return found;
  }

  const endOf = ({ urlExpiresAt }: Attachment) =>
    Math.min(Date.parse(urlExpiresAt ?? ''), env.now() + URL_LIFE_MS) - URL_RESERVE_MS;

  const attachment: Space['attachment'] = async (id, { signal } = {}) =>
    note(await call<Attachment>('GET', pathOf(id), { retry: true, signal }));

  async function ask(id: string) {
    const { url, status, reason } = await attachment(id);
    if (url) return url;
    const missing = status === 'pending' ? 'This file has not been uploaded yet.' : reason;
    throw new SmartspaceError(422, { detail: missing });
  }

  return {
    attach: async (file, options) => note(await uploads(path, file, options)),
    attachment,
    fileUrl(id, { renew = false }: FileUrlOptions = {}) {
      const found = urls.get(id);
      if (found && !renew && env.now() < found.until) return found.url;
      const asked = { url: ask(id), until: Infinity };
      urls.set(id, asked);
      asked.url.catch(() => urls.get(id) === asked && urls.delete(id));
      return asked.url;
    },
    partOf(given) {
      const id = typeof given === 'string' ? given : given.id;
      const about = typeof given === 'string' ? known.get(given) : given;
      const {
        name = 'File',
        contentType = 'application/octet-stream',
        bytes = 0,
        width,
        height,
      } = about ?? {};
      const size = width && height ? { width, height } : {};
      return { type: 'file', attachmentId: id, name, contentType, bytes, ...size };
    },
  };
}
