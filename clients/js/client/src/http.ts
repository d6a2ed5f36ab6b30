// Calls the HTTP API: adds the caller's token, repeats calls that failed temporarily, and turns
// error answers into errors.

import type { Environment } from './environment.ts';
import { SmartspaceError } from './errors.ts';
import { createKept, type Kept, type KeptAnswer } from './answer_tags.ts';
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS, TIME_LIMIT_MS, MOST_ATTEMPTS } from './limits.ts';
import { createTokens, type Token, type Tokens } from './tokens.ts';
import type { Caller } from './types.ts';
import { pause, withLimit } from './waiting.ts';

/** How a call is made. */
export interface CallOptions {
  /** The body, which is sent as JSON. */
  body?: unknown;
  /** Makes a `POST` safe to repeat: 16 characters or more, unique. */
  idempotencyKey?: string | undefined;
  /** Repeats the call a few times while it fails temporarily. */
  retry?: boolean;
  /** The call outlives the page. */
  keepalive?: boolean;
  /**
   * Keeps the answer of a `GET`, and asks the next time only whether it has changed. An answer that
   * has not is the same object again: don't change it.
   */
  keep?: boolean;
  /** Ends the call. The promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Makes one call. Resolves to the body of the response, or to null if it is empty. Rejects with a
 * `SmartspaceError`.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a caller knows what it asks for
export type Call = <T = any>(method: string, path: string, options?: CallOptions) => Promise<T>;

/** The HTTP API with the caller's token. */
export interface Http extends Pick<Tokens, 'close' | 'closedBy'> {
  call: Call;
}

/** What a request needs. */
interface Requests {
  env: Environment;
  /** The address of the deployment. */
  url: string;
  /** Whether a refused token can be replaced. */
  isRenewable: boolean;
  /** Without it no answer is kept. */
  kept?: Kept;
  /** Called after each call with whether the server answered. */
  onEnd(isAnswered: boolean): void;
}

/** `caller` is the owner of the token, as far as it is known. */
export function createHttp(
  given: Omit<Requests, 'isRenewable' | 'kept'>,
  token: Token,
  caller: () => Caller | null,
): Http {
  const { env } = given;
  const isRenewable = typeof token !== 'string';
  const requests = { ...given, isRenewable, kept: createKept() };
  const whoHas = (found: string) =>
    request(requests, found, 'GET', '/v1/me', {}) as Promise<Caller>;
  const tokens = createTokens(env, token, caller, whoHas);

  async function callWithFreshToken(...given: [string, string, CallOptions]): Promise<unknown> {
    const { signal } = given[2];
    const used = await tokens.get(signal);
    try {
      return await request(requests, used, ...given);
    } catch (error) {
      if ((error as SmartspaceError).status !== 401 || !isRenewable) throw error;
      tokens.refused(used);
      return request(requests, await tokens.get(signal), ...given);
    }
  }

  return {
    ...tokens,
    async call<T>(method: string, path: string, options: CallOptions = {}) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return (await callWithFreshToken(method, path, options)) as T;
        } catch (error) {
          const failure = error as SmartspaceError;
          if (!options.retry || attempt === MOST_ATTEMPTS || !failure.isTemporary) throw error;
          const delayMs = (failure.retryAfter ?? 0) * 1000 || FIRST_PAUSE_MS * 2 ** attempt;
          await pause(env, Math.min(delayMs, LONGEST_PAUSE_MS), options.signal);
        }
      }
    },
  };
}

/** Makes one attempt of a call. An empty token is that of somebody who has none yet. */
export async function request(
  requests: Requests,
  token: string,
  method: string,
  path: string,
  { body, idempotencyKey, keepalive = false, keep = false, signal }: CallOptions,
): Promise<unknown> {
  const known = (keep && requests.kept?.of(path)) || [];
  const headers = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    ...(known.length > 0 && { 'if-none-match': known.map(({ tag }) => tag).join(', ') }),
  };
  const init = { method, headers, keepalive, body: JSON.stringify(body) };
  try {
    signal?.throwIfAborted();
    return await withLimit(requests.env, TIME_LIMIT_MS, signal, async (limited) => {
      const address = requests.url.replace(/\/+$/, '') + path;
      const response = await requests.env.fetch(address, { ...init, signal: limited });
      const tag = response.headers.get('etag');
      const answer = await answerOf(response, requests, known);
      if (keep && tag) requests.kept?.put(path, tag, answer);
      return answer;
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SmartspaceError) throw error;
    requests.onEnd(false);
    throw new SmartspaceError(0);
  }
}

function keptOf(known: readonly KeptAnswer[], tag: string | null): unknown {
  const found = known.find((each) => each.tag === tag);
  // A proxy has answered, and with a tag that nobody gave it.
  if (!found) throw new SmartspaceError(0);
  return found.answer;
}

async function answerOf(
  response: Response,
  requests: Requests,
  known: readonly KeptAnswer[],
): Promise<unknown> {
  const { status, ok, headers } = response;
  // A proxy may answer with a page of its own. A body that breaks off is no answer at all.
  const answer = await response.json().catch((error) => {
    if (!(error instanceof SyntaxError)) throw error;
  });
  requests.onEnd(status < 502);
  if (status === 304) return keptOf(known, headers.get('etag'));
  if (ok && /html/.test(headers.get('content-type') ?? '')) throw new SmartspaceError(0);
  if (ok) return answer ?? null;
  const error = new SmartspaceError(status, answer, headers);
  // The next token may be accepted.
  error.isTemporary ||= status === 401 && requests.isRenewable;
  throw error;
}

/** A page of a list. */
export interface Page<T> {
  items: T[];
  /** The cursor of the next page; null on the last one. */
  nextCursor: string | null;
}

/** Loads a page of a list, the first one without a cursor. */
export const pageOf = <T>(call: Call, path: string, limit: number, cursor: string) =>
  call<Page<T>>(
    'GET',
    `${path}?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    { keep: true },
  );

/** The path of an agent. */
export const agentPath = (id: string) => `/v1/agents/${encodeURIComponent(id)}`;

/** The path of a run. */
export const runPath = (id: string) => `/v1/runs/${encodeURIComponent(id)}`;

/** The path of a space. */
export const spacePath = (id: string) => `/v1/spaces/${encodeURIComponent(id)}`;

/** An idempotency key. `crypto.randomUUID` exists on secure pages only. */
export const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');
