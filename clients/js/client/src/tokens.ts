// The caller's token: calls share one, and a refused one is replaced.

import type { Environment } from './environment.ts';
import { ClosedError, SmartspaceError } from './errors.ts';
import { TIME_LIMIT_MS } from './limits.ts';
import type { Caller } from './types.ts';
import { unlessAborted, withLimit } from './waiting.ts';

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
  /** Why the client is closed, if it is. */
  closedBy(): ClosedError | undefined;
  /** No token is given out any longer. */
  close(error: ClosedError): void;
}

/** `caller` is the owner of the token, as far as it is known. `whoHas` finds the owner of one. */
export function createTokens(
  env: Environment,
  token: Token,
  caller: () => Caller | null,
  whoHas: (token: string) => Promise<Caller>,
): Tokens {
  let known = typeof token === 'string' ? token : undefined;
  let asked: Promise<string> | undefined;
  let closed: ClosedError | undefined;

  function throwIfClosed() {
    if (closed) throw closed;
  }

  async function newToken(): Promise<string> {
    const found = await askedFor(env, token as () => string | Promise<string>);
    throwIfClosed();
    // A call with the token before may have found its owner meanwhile.
    const before = caller();
    // What one person has written must not be sent by another one.
    if (before && !isSame(before, await whoHas(found))) {
      throw (closed = new ClosedError('The token belongs to somebody else.'));
    }
    return (known = found);
  }

  return {
    async get(signal) {
      throwIfClosed();
      const found =
        known ??
        (await unlessAborted((asked ??= newToken().finally(() => (asked = undefined))), signal));
      throwIfClosed();
      return found;
    },
    refused(used) {
      // Another call may have replaced it meanwhile.
      if (known === used) known = undefined;
    },
    closedBy: () => closed,
    close: (error) => void (closed ??= error),
  };
}

const isSame = (one: Caller, other: Caller) =>
  one.kind === other.kind && one.entity?.id === other.entity?.id;

async function askedFor(env: Environment, token: () => string | Promise<string>): Promise<string> {
  try {
    return await withLimit(env, TIME_LIMIT_MS, undefined, (limited) =>
      unlessAborted(Promise.resolve(token()), limited),
    );
  } catch (error) {
    throw new SmartspaceError(0, { detail: `The function \`token\` failed: ${error}` });
  }
}
