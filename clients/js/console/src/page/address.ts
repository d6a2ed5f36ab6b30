// The address of the page: `#/s/{spaceId}` or `#/s/{spaceId}/m/{seq}`. `?why={runId}` may follow.

import { useEffect, useState } from 'preact/hooks';

/** What an address names. */
export interface Address {
  spaceId: string | null;
  /** The message to show. */
  seq: number | null;
  /** The run that the drawer explains. */
  runId: string | null;
}

const NOWHERE: Address = { spaceId: null, seq: null, runId: null };
const listeners = new Set<() => void>();

/** The address of a space or of one of its messages. */
export const hashOf = (spaceId: string, seq?: number): string =>
  `#/s/${encodeURIComponent(spaceId)}${seq === undefined ? '' : `/m/${seq}`}`;

/** Opens a space, at one of its messages. `isReplacing`: without a new entry in the history. */
export const openSpace = (spaceId: string, isReplacing = false, seq?: number): void =>
  open(hashOf(spaceId, seq), isReplacing);

/** Opens the drawer that explains a run, or closes it. The rest of the address stays. */
export function openWhy(runId: string | null): void {
  const [place] = location.hash.split('?');
  open(`${place}${runId === null ? '' : `?why=${encodeURIComponent(runId)}`}`);
}

function open(hash: string, isReplacing = false) {
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

/** Whether the address names no space right now. The page may not have drawn it yet. */
export const isNowhere = (): boolean => addressOf(location.hash).spaceId === null;

function addressOf(hash: string): Address {
  const found = /^#\/s\/([^/?]+)(?:\/m\/(\d+))?(?:\?why=([^&]+))?$/.exec(hash);
  if (!found) return NOWHERE;
  const [, spaceId = '', seq, runId] = found;
  try {
    return {
      spaceId: decodeURIComponent(spaceId),
      seq: seq ? Number(seq) : null,
      runId: runId ? decodeURIComponent(runId) : null,
    };
  } catch {
    return NOWHERE;
  }
}
