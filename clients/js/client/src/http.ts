// Calls of the HTTP API.

import type { Environment } from './environment.ts';
import type { Caller } from './types.ts';

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
  /** Whether the same call may succeed later. Repeat it with the same idempotency key. */
  isTemporary: boolean;

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
    this.isTemporary = status === 0 || status === 429 || status >= 500;
  }
}

/** The client makes no calls any longer. */
export class ClosedError extends SmartspaceError {
  override name = 'ClosedError';

  constructor(detail: string) {
    super(0, { detail });
    this.isTemporary = false;
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
  /** The call outlives the page. */
  keepalive?: boolean;
  signal?: AbortSignal | undefined;
}

/** Makes one call. Resolves to the body of the response, or to null if it is empty. */
export type Call = <T = any>(method: string, path: string, options?: CallOptions) => Promise<T>;

/**
 * A token, or a function that returns one. The function is asked again after the server refused a
 * token. If the new token belongs to somebody else, the client closes.
 */
export type Token = string | (() => string | Promise<string>);

export interface Http {
  call: Call;
  /** Refuses all further calls. */
  close(error: ClosedError): void;
}

/**
 * `caller` is who the token belongs to, as far as it is known. `onEnd` is told of each call whether
 * the server answered.
 */
export function createHttp(
  env: Environment,
  url: string,
  token: Token,
  caller: () => Caller | null,
  onEnd: (isAnswered: boolean) => void,
): Http {
  const base = url.replace(/\/+$/, '');
  let known = typeof token === 'string' ? token : undefined;
  let asked: Promise<string> | undefined;
  let closed: ClosedError | undefined;

  // Several calls share one token.
  async function tokenOf(signal?: AbortSignal) {
    const found =
      known ??
      (await unlessAborted((asked ??= newToken().finally(() => (asked = undefined))), signal));
    if (closed) throw closed;
    return found;
  }

  async function newToken(): Promise<string> {
    const before = caller();
    let timer: unknown;
    const tooLate = new Promise<never>((_, reject) => {
      timer = env.setTimeout(() => reject(new Error('it did not answer in time')), TIME_LIMIT_MS);
    });
    let found: string;
    try {
      found = await Promise.race([(token as () => string | Promise<string>)(), tooLate]);
    } catch (error) {
      throw new SmartspaceError(0, { detail: `The function \`token\` failed: ${error}` });
    } finally {
      env.clearTimeout(timer);
    }
    if (closed) throw closed;
    // What one person has written must not be sent by another one.
    if (before) {
      const now: Caller = await request(found, 'GET', '/v1/me', {});
      if (now.kind !== before.kind || now.entity?.id !== before.entity?.id) {
        closed = new ClosedError(
          'The token now belongs to somebody else. Make a new client for them.',
        );
        throw closed;
      }
    }
    return (known = found);
  }

  async function request(
    used: string,
    method: string,
    path: string,
    { body, idempotencyKey, keepalive, signal }: CallOptions,
  ): Promise<any> {
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
        ...(keepalive && { keepalive }),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const { status, ok, headers } = response;
      // A proxy may answer with a page of its own.
      const answer = await response.json().catch((error) => {
        if (!(error instanceof SyntaxError)) throw error;
      });
      onEnd(status < 502);
      // A page of a proxy is no answer.
      if (ok && /html/.test(headers.get('content-type') ?? '')) throw new SmartspaceError(0);
      if (ok) return answer ?? null;
      const error = new SmartspaceError(status, answer, headers);
      // The next token may be accepted.
      error.isTemporary ||= status === 401 && typeof token !== 'string';
      throw error;
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

  async function once(...given: [string, string, CallOptions]): Promise<any> {
    const { signal } = given[2];
    const used = await tokenOf(signal);
    try {
      return await request(used, ...given);
    } catch (error) {
      if ((error as SmartspaceError).status !== 401 || typeof token === 'string') throw error;
      if (known === used) known = undefined;
      return request(await tokenOf(signal), ...given);
    }
  }

  const pause = (delayMs: number) => new Promise<void>((resume) => env.setTimeout(resume, delayMs));

  return {
    async call(method, path, options = {}) {
      for (let attempt = 1; ; attempt += 1) {
        if (closed) throw closed;
        try {
          return await once(method, path, options);
        } catch (error) {
          if (!options.retry || attempt === TRIES || !(error as SmartspaceError).isTemporary)
            throw error;
          const seconds = Math.min((error as SmartspaceError).retryAfter ?? 0.3 * 2 ** attempt, 10);
          await unlessAborted(pause(seconds * 1000), options.signal);
        }
      }
    },
    close: (error) => void (closed ??= error),
  };
}

/** Waits for `work`, unless the signal comes first. */
export async function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  signal.throwIfAborted();
  let cancel: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    cancel = () => reject(signal.reason);
    signal.addEventListener('abort', cancel);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', cancel!);
  }
}
