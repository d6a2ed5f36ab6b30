// The files of one space: how they get to the server, and the addresses from which they are loaded.

import type { Environment } from '../environment.ts';
import { throwRefusal } from '../errors.ts';
import type { Call } from '../http.ts';
import { URL_LIFE_MS, URL_RESERVE_MS } from '../limits.ts';
import type { Attachment, FilePart, FileUrlOptions, Space } from '../types.ts';
import type { Uploads } from '../uploads.ts';

export interface Attachments extends Pick<Space, 'attach' | 'attachment' | 'fileUrl'> {
  /** The part of a message for this attachment, with what is known about it. */
  partOf(attachment: string | Attachment): FilePart;
}

export interface AttachmentsContext {
  env: Environment;
  call: Call;
  uploads: Uploads;
}

/** `path` is that of the attachments of the space. */
export function createAttachments(context: AttachmentsContext, path: string): Attachments {
  const { env } = context;
  const known = new Map<string, Attachment>();
  // Calls at the same moment share one request.
  const urls = new Map<string, { url: Promise<string>; until: number }>();
  const pathOf = (id: string) => `${path}/${encodeURIComponent(id)}`;

  function note(found: Attachment) {
    known.set(found.id, found);
    if (found.url) urls.set(found.id, { url: Promise.resolve(found.url), until: endOf(found) });
    return found;
  }

  const endOf = ({ urlExpiresAt }: Attachment) =>
    Math.min(Date.parse(urlExpiresAt ?? ''), env.now() + URL_LIFE_MS) - URL_RESERVE_MS;

  const attachment: Space['attachment'] = async (id, options) =>
    note(
      await context.call<Attachment>('GET', pathOf(id), { retry: true, signal: options?.signal }),
    );

  async function ask(id: string) {
    const found = await attachment(id);
    if (found.url) return found.url;
    const isPending = found.status === 'pending';
    throwRefusal(isPending ? 'The file is not uploaded yet.' : (found.reason ?? undefined));
  }

  return {
    attach: async (file, options) => note(await context.uploads(path, file, options)),
    attachment,
    fileUrl(id, options?: FileUrlOptions) {
      const found = urls.get(id);
      if (found && !options?.renew && env.now() < found.until) return found.url;
      const asked = { url: ask(id), until: Infinity };
      urls.set(id, asked);
      asked.url.catch(() => urls.get(id) === asked && urls.delete(id));
      return asked.url;
    },
    partOf(given) {
      const about: Pick<Attachment, 'id'> & Partial<Attachment> =
        typeof given === 'string' ? (known.get(given) ?? { id: given }) : given;
      const {
        id,
        name = 'File',
        contentType = 'application/octet-stream',
        bytes = 0,
        width,
        height,
      } = about;
      const size = width && height ? { width, height } : {};
      return { type: 'file', attachmentId: id, name, contentType, bytes, ...size };
    },
  };
}
