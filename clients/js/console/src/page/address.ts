// The address of the page: `#/s/{spaceId}` and `#/s/{spaceId}/m/{seq}`.

import { useEffect, useState } from 'preact/hooks';

/** What an address names. */
export interface Address {
  spaceId: string | null;
  /** The message to show. */
  seq: number | null;
}

const NOWHERE: Address = { spaceId: null, seq: null };
const listeners = new Set<() => void>();

/** The address of a space or of one of its messages. */
export const hashOf = (spaceId: string, seq?: number): string =>
  `#/s/${encodeURIComponent(spaceId)}${seq === undefined ? '' : `/m/${seq}`}`;

/** Opens a space. `isReplacing`: without a new entry in the history. */
export function openSpace(spaceId: string, isReplacing = false): void {
  const hash = hashOf(spaceId);
  if (hash === location.hash) return;
  history[isReplacing ? 'replaceState' : 'pushState'](null, '', hash);
  listeners.forEach((listener) => listener());
}

/** The present address. */
export function useAddress(): Address {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = () => setHash(location.hash);
    listeners.add(read);
    addEventListener('hashchange', read);
    addEventListener('popstate', read);
    read();
    return () => {
      listeners.delete(read);
      removeEventListener('hashchange', read);
      removeEventListener('popstate', read);
    };
  }, []);
  return addressOf(hash);
}

function addressOf(hash: string): Address {
  const found = /^#\/s\/([^/]+)(?:\/m\/(\d+))?$/.exec(hash);
  if (!found) return NOWHERE;
  try {
    return { spaceId: decodeURIComponent(found[1]!), seq: found[2] ? Number(found[2]) : null };
  } catch {
    return NOWHERE;
  }
}
