// Uploads files: announces each to the server, stores its bytes where the server says, and lets the
// server check them.

import type { Environment } from './environment.ts';
import { SmartspaceError, throwRefusal } from './errors.ts';
import { newKey, type Call } from './http.ts';
import { FIRST_PAUSE_MS, MOST_UPLOADS, MOST_ATTEMPTS } from './limits.ts';
import { putSigned, type SignedUpload } from './signed_upload.ts';
import type { AttachOptions, Attachment, NewFile } from './types.ts';
import { prepareUpload } from './upload_preparation.ts';
import { pause, unlessAborted } from './waiting.ts';

/** Uploads a file to the attachments with this path. Resolves when the server has checked it. */
export type Uploads = (
  path: string,
  file: Blob | NewFile,
  options?: AttachOptions,
) => Promise<Attachment>;

/** Where the bytes of a new attachment go. */
interface Target extends Pick<SignedUpload, 'headers'> {
  attachmentId: string;
  uploadUrl: string;
}

/** All spaces of a client share these uploads. */
export function createUploads(env: Environment, call: Call): Uploads {
  const inTurn = createTurns(MOST_UPLOADS);
  const pauseAfter = (attempt: number, signal: AbortSignal | undefined) =>
    pause(env, FIRST_PAUSE_MS * 2 ** attempt, signal);

  // Returns false if the URL has expired.
  async function store(given: SignedUpload): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      const status = await putSigned(env, given);
      given.signal?.throwIfAborted();
      // 412: an earlier try has stored the bytes, and its answer was lost.
      if ((status >= 200 && status < 300) || status === 412) return true;
      if (status === 403) return false;
      const error = new SmartspaceError(status);
      // 409: another upload of the same file is arriving.
      const mayPass = error.isTemporary || status === 409;
      if (!mayPass || attempt === MOST_ATTEMPTS) throw error;
      await pauseAfter(attempt, given.signal);
    }
  }

  // The first look at an attachment checks what was stored.
  async function check(path: string, signal: AbortSignal | undefined): Promise<Attachment> {
    for (let attempt = 1; ; attempt += 1) {
      const found = await call<Attachment>('GET', path, { retry: true, signal });
      if (found.status === 'ready') return found;
      if (found.status === 'refused') throwRefusal(found.reason ?? undefined);
      if (attempt === MOST_ATTEMPTS) throwRefusal('The file is not checked yet.', 503);
      await pauseAfter(attempt, signal);
    }
  }

  async function upload(path: string, file: Blob | NewFile, options: AttachOptions) {
    const { signal, original = false, onProgress = () => {} } = options;
    signal?.throwIfAborted();
    const { about, data } = await prepareUpload(env, file, original);
    for (let attempt = 1; ; attempt += 1) {
      const { attachmentId, uploadUrl, headers } = await call<Target>('POST', path, {
        body: about,
        idempotencyKey: newKey(),
        retry: true,
        signal,
      });
      if (await store({ url: uploadUrl, headers, data, onProgress, signal })) {
        onProgress(1);
        return check(`${path}/${attachmentId}`, signal);
      }
      if (attempt === MOST_ATTEMPTS) throw new SmartspaceError(403);
    }
  }

  return (path, file, options = {}) => {
    const uploaded = inTurn(() => upload(path, file, options));
    return unlessAborted(uploaded, options.signal);
  };
}

/** Runs at most `count` pieces of work at once; the others wait in order. */
function createTurns(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resume) => waiting.push(resume));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
