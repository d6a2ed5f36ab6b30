// Calls of the HTTP API.

import type { Environment } from './environment.ts';

const TIME_LIMIT_MS = 20_000;
const TRIES = 4;

/** A fault in a request: where, as a JSON pointer into its body, and what. */
export interface Fault {
  pointer: string;
  detail: string;
}

/** Why a call failed. `message` says what was wrong and what was expected. */
export class SmartspaceError extends Error {
  override name = 'SmartspaceError';
  /** The HTTP status. 0: no response came, so the call may or may not have taken effect. */
  readonly status: number;
  /** The name of the status, such as `Not Found`. */
  readonly title: string;
  /** What was wrong and what was expected. */
  readonly detail: string;
  /** Identifies the request in the server's logs. */
  readonly requestId: string | null;
  /** Seconds to wait before the call is repeated. */
  readonly retryAfter: number | null;
  /** The faults of the request's body. */
  readonly errors: readonly Fault[];

  /** `problem` is the body of the response, whatever it is. */
  constructor(status: number, problem?: unknown, headers?: Headers) {
    const { title, detail, errors } = (problem ?? {}) as Record<string, unknown>;
    const faults = (Array.isArray(errors) ? errors : []).filter((fault) => fault?.detail);
    const text =
      typeof detail === 'string'
        ? detail
        : status
          ? `The server answered ${status}.`
          : 'The server can’t be reached.';
    super(faults.map((fault) => `${fault.pointer}: ${fault.detail}`).join('; ') || text);
    this.status = status;
    this.title = typeof title === 'string' ? title : '';
    this.detail = text;
    this.requestId = headers?.get('x-request-id') ?? null;
    this.retryAfter = Number(headers?.get('retry-after')) || null;
    this.errors = faults;
  }

  /** Whether the same call may succeed later. Repeat it with the same idempotency key. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Whether a failed call may succeed later. */
export const isTemporary = (error: unknown) =>
  !(error instanceof SmartspaceError) || error.isTemporary;

export interface CallOptions {
  body?: unknown;
  /** Makes a `POST` safe to repeat: 16 characters or more, unique. */
  idempotencyKey?: string | undefined;
  /** Repeats the call a few times while it fails temporarily. */
  retry?: boolean;
  signal?: AbortSignal | undefined;
}

/** Makes one call. Resolves to the body of the response, or to null if it is empty. */
export type Call = <T = any>(method: string, path: string, options?: CallOptions) => Promise<T>;

/** A token, or a function that returns one. It is asked again after the server refused a token. */
export type Token = string | (() => string | Promise<string>);

/** `onEnd` is told of each call whether the server answered. */
export function createCall(
  env: Environment,
  url: string,
  token: Token,
  onEnd: (isAnswered: boolean) => void,
): Call {
  const base = url.replace(/\/+$/, '');
  let known = typeof token === 'string' ? token : undefined;

  async function once(
    method: string,
    path: string,
    { body, idempotencyKey, signal }: CallOptions,
    isAgain: boolean,
  ): Promise<any> {
    const used = (known ??= await (token as () => Promise<string>)());
    const abort = new AbortController();
    const cancel = () => abort.abort();
    signal?.addEventListener('abort', cancel);
    const timer = env.setTimeout(cancel, TIME_LIMIT_MS);
    try {
      signal?.throwIfAborted();
      const response = await env.fetch(base + path, {
        method,
        headers: {
          authorization: `Bearer ${used}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        },
        signal: abort.signal,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const { status, ok, headers } = response;
      // A proxy may answer with a page of its own.
      const answer = await response.json().catch((error) => {
        if (abort.signal.aborted) throw error;
      });
      onEnd(status < 502);
      // A page of a proxy is no answer.
      if (ok && /html/.test(headers.get('content-type') ?? '')) throw new SmartspaceError(0);
      if (ok) return answer ?? null;
      if (status === 401 && typeof token !== 'string' && !isAgain) {
        if (known === used) known = undefined;
        return await once(method, path, { body, idempotencyKey, signal }, true);
      }
      throw new SmartspaceError(status, answer, headers);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof SmartspaceError) throw error;
      onEnd(false);
      throw new SmartspaceError(0);
    } finally {
      env.clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  return async (method, path, options = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(method, path, options, false);
      } catch (error) {
        if (
          !options.retry ||
          attempt === TRIES ||
          !(error instanceof SmartspaceError && error.isTemporary)
        )
          throw error;
        const seconds = Math.min(error.retryAfter ?? 0.3 * 2 ** attempt, 10);
        await new Promise<void>((resume) => env.setTimeout(resume, seconds * 1000));
      }
    }
  };
}
