// Stores bytes at a signed URL, which may be on another origin.

import type { Environment } from './environment.ts';
import { LONGEST_UPLOAD_MS, UPLOAD_STALL_MS } from './limits.ts';
import { withLimit } from './waiting.ts';

// The platform sends these itself, and refuses them from a script.
const OWN_HEADERS = /^(content-length|host)$/i;

/** What is stored, and where. */
export interface SignedUpload {
  url: string;
  headers: Readonly<Record<string, string>>;
  data: Blob;
  /** Gets the part that is sent, from 0 to 1. */
  onProgress: (part: number) => void;
  signal: AbortSignal | undefined;
}

/** The status of the answer, or 0 if none came. The request has no credentials. */
export function putSigned(env: Environment, given: SignedUpload): Promise<number> {
  const headers = Object.entries(given.headers).filter(([name]) => !OWN_HEADERS.test(name));
  const { XMLHttpRequest } = env;
  return XMLHttpRequest
    ? withProgress(env, given, headers, new XMLHttpRequest())
    : withFetch(env, given, headers);
}

type Headers = [string, string][];

function withProgress(
  env: Environment,
  given: SignedUpload,
  headers: Headers,
  request: XMLHttpRequest,
): Promise<number> {
  const { data, signal } = given;
  return new Promise((resolve) => {
    const cancel = () => request.abort();
    let timer: unknown;
    const expectMore = () => {
      env.clearTimeout(timer);
      timer = env.setTimeout(cancel, UPLOAD_STALL_MS);
    };
    request.open('PUT', given.url);
    for (const [name, value] of headers) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => {
      expectMore();
      given.onProgress(Math.min(event.loaded / data.size, 1));
    };
    request.onloadend = () => {
      env.clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      resolve(request.status);
    };
    signal?.addEventListener('abort', cancel);
    expectMore();
    request.send(data);
  });
}

function withFetch(env: Environment, given: SignedUpload, headers: Headers): Promise<number> {
  return withLimit(env, LONGEST_UPLOAD_MS, given.signal, async (limited) => {
    const response = await env.fetch(given.url, {
      method: 'PUT',
      headers: Object.fromEntries(headers),
      body: given.data,
      credentials: 'omit',
      signal: limited,
    });
    // An unread body would hold the connection.
    response.body?.cancel().catch(() => {});
    return response.status;
  }).catch(() => 0);
}
