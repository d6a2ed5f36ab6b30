// Promises that an `AbortSignal` or a time limit ends.

import type { Environment } from './environment.ts';

/** Waits for `work`, unless the signal comes first. */
export const unlessAborted = <T>(work: Promise<T>, signal?: AbortSignal) =>
  new Promise<T>((resolve, reject) => {
    const cancel = () => reject(signal?.reason);
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel);
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', cancel));
  });

/** Waits for a while, unless the signal comes first. */
export const pause = (env: Environment, delayMs: number, signal?: AbortSignal) =>
  unlessAborted(new Promise<void>((resume) => env.setTimeout(resume, delayMs)), signal);

/** Does work whose own signal comes with the given one, or when the time is over. */
export async function withLimit<T>(
  env: Environment,
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const cancel = () => abort.abort(new Error('it did not answer'));
  signal?.addEventListener('abort', cancel);
  const timer = env.setTimeout(cancel, limitMs);
  try {
    return await work(abort.signal);
  } finally {
    env.clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}
