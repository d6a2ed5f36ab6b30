// The sends of a space in the storage, which the tabs of a browser share.

import type { Environment } from '../environment.ts';
import { LONGEST_AGE_MS } from '../limits.ts';
import { safeStorage } from '../storage.ts';
import type { PendingSend } from '../types.ts';

/** The sends of a space in the storage. It keeps nothing before `restore`. */
export interface SendStorage {
  /** Stores a send, or removes it. */
  store(key: string, send?: PendingSend): void;
  /** Marks a send as discarded, for the other tabs. */
  mark(key: string): void;
  /** Whether a tab has discarded the send. */
  isMarked(key: string): boolean;
  /**
   * The sends under this prefix, which is that of all later ones; null from the second time on.
   * Removes the marks that no tab needs any longer.
   */
  restore(prefix: string): PendingSend[] | null;
}

export function createSendStorage(
  env: Environment,
  closedBy: () => Error | undefined,
): SendStorage {
  const storage = safeStorage(env);
  let prefix: string | null = null;
  const isMarked = (key: string) => {
    const json = prefix && storage.get(prefix + key);
    return json !== null && !sendOf(json);
  };
  return {
    store(key, send) {
      // An answer that was under way must not undo a mark.
      if (!prefix || isMarked(key)) return;
      if (!send) return storage.remove(prefix + key);
      // The next client may have posted what a closed one still holds. An error has no JSON.
      if (!closedBy()) storage.set(prefix + key, JSON.stringify({ ...send, error: undefined }));
    },
    mark(key) {
      if (prefix) storage.set(prefix + key, JSON.stringify({ at: env.now() }));
    },
    isMarked,
    restore(given) {
      if (prefix) return null;
      prefix = given;
      return storage.names(prefix).flatMap((name) => {
        const json = storage.get(name) ?? '';
        const send = sendOf(json);
        // A mark must outlive every tab that may still show the send.
        if (!send && !((parsed(json).at ?? 0) > env.now() - LONGEST_AGE_MS)) storage.remove(name);
        return send ?? [];
      });
    },
  };
}

function parsed(json: string): Partial<PendingSend> {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

/** What an earlier page left, or null if it is a mark or can't be read. */
function sendOf(json: string): PendingSend | null {
  const { state, isUnsure, ...send } = parsed(json) as PendingSend;
  if (typeof send.key !== 'string' || typeof send.text !== 'string') return null;
  return {
    ...send,
    state: state === 'failed' ? state : 'queued',
    // The page may have ended before an answer came.
    isUnsure: isUnsure || state === 'sending',
  };
}
