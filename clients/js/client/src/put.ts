// Stores bytes at a signed URL, which may be on another origin.

import type { Environment } from './environment.ts';

// An upload without progress for this long has no network.
const STALL_MS = 60_000;
// `fetch` reports no progress.
const LONGEST_MS = 600_000;
// The platform sends these itself, and refuses them from a script.
const OWN_HEADERS = /^(content-length|host)$/i;

export interface Put {
  url: string;
  headers: Readonly<Record<string, string>>;
  data: Blob;
  /** Gets the part that is sent, from 0 to 1. */
  onProgress: (part: number) => void;
  signal: AbortSignal | undefined;
}

/** The status of the answer, or 0 if none came. The request has no credentials. */
export function put(env: Environment, given: Put): Promise<number> {
  const headers = Object.entries(given.headers).filter(([name]) => !OWN_HEADERS.test(name));
  return env.XMLHttpRequest ? withProgress(env, given, headers) : withFetch(env, given, headers);
}

type Headers = readonly (readonly [string, string])[];

function withProgress(env: Environment, given: Put, headers: Headers): Promise<number> {
  const { url, data, onProgress, signal } = given;
  return new Promise((resolve) => {
    const request = new env.XMLHttpRequest!();
    const cancel = () => request.abort();
    let timer: unknown;
    const expectMore = () => {
      env.clearTimeout(timer);
      timer = env.setTimeout(cancel, STALL_MS);
    };
    request.open('PUT', url);
    for (const [name, value] of headers) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => {
      expectMore();
      onProgress(Math.min(loaded / data.size, 1));
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

async function withFetch(env: Environment, given: Put, headers: Headers): Promise<number> {
  const { url, data, signal } = given;
  const abort = new AbortController();
  const cancel = () => abort.abort();
  signal?.addEventListener('abort', cancel);
  const timer = env.setTimeout(cancel, LONGEST_MS);
  try {
    const response = await env.fetch(url, {
      method: 'PUT',
      headers: Object.fromEntries(headers),
      body: data,
      credentials: 'omit',
      signal: abort.signal,
    });
    // An unread body would hold the connection.
    response.body?.cancel().catch(() => {});
    return response.status;
  } catch {
    return 0;
  } finally {
    env.clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}
