// Messages on their way to the server, in order. They survive a reload, and each is repeated under
// its own key until the server's answer is known.

import type { Environment } from './environment.ts';
import { ClosedError, isTemporary, type SmartspaceError } from './http.ts';
import { keptIn } from './kept.ts';
import { backOff, createTimers } from './timers.ts';
import type { Message, PendingSend } from './types.ts';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;
// The server knows a key for 24 hours. After that a repeated message could be posted twice.
const LONGEST_AGE_MS = 23 * 3_600_000;

export interface Outbox {
  /** The messages that are not stored yet, oldest first. */
  all(): readonly PendingSend[];
  /** Adds a message. Resolves to the stored message, or rejects if the server refuses it. */
  add(content: SendContent, afterSeq: number): Promise<Message>;
  /** Removes a message that is not being sent, and returns it. */
  discard(key: string): PendingSend | undefined;
  /** Takes over what an earlier page left under this prefix, and keeps messages there from now on. */
  load(prefix: string): void;
  /** The server may be reachable again. */
  wake(): void;
}

/** What a person sends. */
export type SendContent = Pick<PendingSend, 'text' | 'files' | 'senderId'>;

/** Which messages became of sends. */
export interface Claims {
  /** The message that seems to be that of the send. */
  of(key: string): Message | undefined;
  /** The server has stored the send as this message. */
  stored(key: string, message: Message): void;
  /** The server has not stored the send. */
  release(key: string): void;
}

/** `post` sends one message. */
export function createOutbox(
  env: Environment,
  post: (send: PendingSend) => Promise<Message>,
  changed: () => void,
  claims: Claims,
): Outbox {
  const timers = createTimers(env);
  const kept = keptIn(env);
  const waiting = new Map<string, [(message: Message) => void, (error: Error) => void]>();
  let sends: readonly PendingSend[] = [];
  let prefix: string | null = null;
  let failingSince = 0;
  let isBusy = false;
  let isAskedToWait = false;
  let closed: ClosedError | undefined;

  // Each message has an entry of its own, so that two tabs do not overwrite each other.
  function put(key: string, send?: PendingSend) {
    const others = sends.filter((each) => each.key !== key);
    sends = !send
      ? others
      : others.length < sends.length
        ? sends.map((each) => (each.key === key ? send : each))
        : [...sends, send];
    changed();
    // What another tab has discarded stays marked so.
    if (prefix === null || isDiscarded(key)) return;
    // An error has no JSON.
    if (send) kept.set(prefix + key, JSON.stringify({ ...send, error: undefined }));
    else kept.remove(prefix + key);
  }

  function isYoung(json: string | null) {
    try {
      return JSON.parse(json ?? '').at > env.now() - LONGEST_AGE_MS;
    } catch {
      return false;
    }
  }

  // Another tab, which shows the same sends, has discarded this one.
  function isDiscarded(key: string) {
    const json = kept.get(prefix + key);
    return !!json && !restored(json);
  }

  function fail(send: PendingSend, error: Error) {
    const { key } = send;
    const message = claims.of(key);
    // An attempt whose answer was lost has stored it after all.
    if (send.isUnsure && message) return succeed(key, message);
    claims.release(key);
    put(key, { ...send, state: 'failed', error });
    settle(key)?.[1](error);
  }

  function settle(key: string) {
    const settlers = waiting.get(key);
    waiting.delete(key);
    return settlers;
  }

  function succeed(key: string, message: Message) {
    claims.stored(key, message);
    put(key);
    settle(key)?.[0](message);
  }

  // Another client sends what waits.
  function close(send: PendingSend, error: ClosedError) {
    closed = error;
    put(send.key, send);
    for (const key of [...waiting.keys()]) settle(key)?.[1](error);
  }

  async function run(): Promise<void> {
    const send = sends.find(({ state }) => state !== 'failed');
    if (isBusy || !send) return;
    const { key } = send;
    if (isDiscarded(key)) {
      discard(key);
      return run();
    }
    isBusy = true;
    isAskedToWait = false;
    let delayMs = 0;
    if (env.now() - send.at > LONGEST_AGE_MS)
      fail(send, new Error('This message is too old to be sent by itself.'));
    else
      try {
        put(key, { ...send, state: 'sending' });
        const message = await post(send);
        failingSince = 0;
        succeed(key, message);
      } catch (error) {
        if (error instanceof ClosedError) return close(send, error);
        if (isTemporary(error)) {
          const { status, retryAfter } = error as SmartspaceError;
          const isUnsure = send.isUnsure || !(status > 0 && status < 500);
          put(key, { ...send, state: 'queued', isUnsure });
          isAskedToWait = (retryAfter ?? 0) > 0;
          failingSince ||= env.now();
          const longest = backOff(env.now() - failingSince, FIRST_DELAY_MS, LONGEST_DELAY_MS);
          delayMs = Math.max(longest * (0.5 + env.random() / 2), (retryAfter ?? 0) * 1000);
        } else fail(send, error as Error);
      }
    isBusy = false;
    timers.after('run', delayMs, run);
  }

  function discard(key: string) {
    const send = sends.find((each) => each.key === key && each.state !== 'sending');
    if (!send) return;
    const wasDiscarded = isDiscarded(key);
    put(key);
    // For the other tabs.
    if (prefix !== null) kept.set(prefix + key, JSON.stringify({ at: env.now() }));
    settle(key)?.[1](new Error('The message was discarded.'));
    return wasDiscarded ? undefined : send;
  }

  return {
    all: () => sends,
    async add(content, afterSeq) {
      if (closed) throw closed;
      const key = newKey();
      const sent = new Promise<Message>((resolve, reject) => waiting.set(key, [resolve, reject]));
      put(key, { ...content, key, afterSeq, at: env.now(), state: 'queued' });
      if (!isAskedToWait) run();
      return sent;
    },
    discard,
    load(given) {
      if (prefix !== null) return;
      prefix = given;
      const own = sends;
      for (const name of kept.names(given)) {
        const json = kept.get(name);
        const send = restored(json);
        if (send) sends = [...sends, send];
        // The mark of a discarded send. Other tabs may still need it.
        else if (!isYoung(json)) kept.remove(name);
      }
      sends = [...sends].sort((one, other) => one.at - other.at);
      for (const send of own) put(send.key, send);
      changed();
      run();
    },
    wake() {
      if (!isAskedToWait) run();
    },
  };
}

/** An idempotency key. `crypto.randomUUID` exists on secure pages only. */
export const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** What an earlier page kept, or null if it can't be read. */
function restored(json: string | null): PendingSend | null {
  try {
    const {
      key,
      text,
      files = [],
      senderId,
      at,
      afterSeq,
      state,
      isUnsure,
    } = JSON.parse(json ?? '') as PendingSend;
    if (typeof key !== 'string' || typeof text !== 'string') return null;
    const left = state === 'failed' ? state : 'queued';
    // The page may have ended before an answer came.
    return {
      key,
      text,
      files,
      senderId,
      at,
      afterSeq,
      state: left,
      isUnsure: isUnsure || state === 'sending',
    };
  } catch {
    return null;
  }
}
