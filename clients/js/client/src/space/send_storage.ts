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
  /** The sends that are kept under this prefix, as all later ones. Marks that no tab needs any longer are removed. */
  restore(prefix: string): PendingSend[];
}

export function createSendStorage(env: Environment): SendStorage {
  const storage = safeStorage(env);
  let place: string | null = null;
  const isMarked = (key: string) => {
    const json = place && storage.get(place + key);
    return json !== null && !parsed(json);
  };
  const restored = (name: string) => {
    const json = storage.get(name) ?? '';
    const send = parsed(json);
    // A mark must outlive every tab that may still show the send.
    if (!send && !(timeOf(json) > env.now() - LONGEST_AGE_MS)) storage.remove(name);
    return send ?? [];
  };
  return {
    store(key, send) {
      // An answer that was under way must not undo a mark.
      if (!place || isMarked(key)) return;
      // An error has no JSON.
      if (send) storage.set(place + key, JSON.stringify({ ...send, error: undefined }));
      else storage.remove(place + key);
    },
    mark(key) {
      if (place) storage.set(place + key, JSON.stringify({ at: env.now() }));
    },
    isMarked,
    restore(prefix) {
      place = prefix;
      return storage.names(prefix).flatMap(restored);
    },
  };
}

function timeOf(json: string): number {
  try {
    return JSON.parse(json).at;
  } catch {
    return NaN;
  }
}

/** What an earlier page left, or null if it is a mark or can't be read. */
function parsed(json: string): PendingSend | null {
  try {
    const {
      key,
      text,
      files = [],
      senderId,
      at,
      afterSeq,
      ...rest
    } = JSON.parse(json) as PendingSend;
    if (typeof key !== 'string' || typeof text !== 'string') return null;
    const state = rest.state === 'failed' ? rest.state : 'queued';
    // The page may have ended before an answer came.
    const isUnsure = rest.isUnsure || rest.state === 'sending';
    return { key, text, files, senderId, at, afterSeq, state, isUnsure };
  } catch {
    return null;
  }
}
