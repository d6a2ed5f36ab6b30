// The caller's token: calls share one, and a refused one is replaced.

import type { Environment } from './environment.ts';
import { ClosedError, SmartspaceError } from './errors.ts';
import { TIME_LIMIT_MS } from './limits.ts';
import type { Caller } from './types.ts';
import { unlessAborted } from './waiting.ts';


/**
 * A token, or a function that returns one. The function is asked again after the server refused a
 * token. If the new token belongs to somebody else, the client closes.
 */
export type Token = string | (() => string | Promise<string>);

/** The tokens that calls use. */
export interface Tokens {
  /** A token that was not refused. Rejects with a `ClosedError` after `close`. */
  get(signal?: AbortSignal): Promise<string>;
  /** The server has refused this token. */
  refused(token: string): void;
  /** Throws after `close`. */
  check(): void;
  /** No token is given out any longer. */
  close(error: ClosedError): void;
}

/** `whoHas` returns the owner of a token. */
export function createTokens(
  env: Environment,
  token: Token,
  caller: () => Caller | null,
  whoHas: (token: string) => Promise<Caller>,
): Tokens {
  let known = typeof token === 'string' ? token : undefined;
  let asked: Promise<string> | undefined;
  let closed: ClosedError | undefined;

  function check() {
    if (closed) throw closed;
  }

  async function newToken(): Promise<string> {
    const before = caller();
    const found = await askedFor(env, token as () => string | Promise<string>);
    check();
    // What one person has written must not be sent by another one.
    if (before && !isSame(before, await whoHas(found))) {
      closed = new ClosedError(
        'The token now belongs to somebody else. Make a new client for them.',
      );
      throw closed;
    }
    return (known = found);
  }

  return {
    async get(signal) {
      const found =
        known ??
        (await unlessAborted((asked ??= newToken().finally(() => (asked = undefined))), signal));
      check();
      return found;
    },
    refused(used) {
      // Another call may have replaced it meanwhile.
      if (known === used) known = undefined;
    },
    check,
    close: (error) => void (closed ??= error),
  };
}

const isSame = (one: Caller, other: Caller) =>
  one.kind === other.kind && one.entity?.id === other.entity?.id;

async function askedFor(env: Environment, token: () => string | Promise<string>): Promise<string> {
  let timer: unknown;
  const tooLate = new Promise<never>((_, reject) => {
    timer = env.setTimeout(() => reject(new Error('it did not answer in time')), TIME_LIMIT_MS);
  });
  try {
    return await Promise.race([token(), tooLate]);
  } catch (error) {
    throw new SmartspaceError(0, { detail: `The function \`token\` failed: ${error}` });
  } finally {
    env.clearTimeout(timer);
  }
}
