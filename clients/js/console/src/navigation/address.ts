// The addresses of the page.
//
//   #/                                     the list of spaces, in a narrow window
//   #/s/{spaceId}  #/s/{spaceId}/m/{seq}   a space, at one of its messages; `?why={runId}` opens
//                                          the drawer, `&tab=chain` its second tab
//   #/s/{spaceId}/settings                 the settings of a space
//   #/r/{runId}?step=2                     a run, at one of its steps
//   #/agents  #/agents/new                 the agents, and the templates of new ones
//   #/a/{agentId}/{tab}                    an agent
//   #/inbox                                what waits for the caller
//   #/people  #/runs  #/usage              `#/runs` and `#/usage` take filters: `?status=failed`

import { useEffect, useState } from 'preact/hooks';
import { mayLeave } from './unsaved.ts';

/** The page that an address names, with its parameters. */
export type Address =
  | { page: 'nowhere' }
  | { page: 'list' }
  | { page: 'space'; spaceId: string; seq: number | null; runId: string | null; tab: string | null }
  | { page: 'settings'; spaceId: string }
  | { page: 'run'; runId: string; step: number | null }
  | { page: 'agents'; isNew: boolean }
  | { page: 'agent'; agentId: string; tab: string }
  | { page: 'inbox' | 'people' }
  | { page: 'runs' | 'usage'; filters: URLSearchParams };

const NOWHERE: Address = { page: 'nowhere' };
const listeners = new Set<() => void>();
// The address that the page shows. The browser's is another one while the page may not be left.
let shown = location.hash;

/** The address of the list of spaces. */
export const LIST = '#/';

/** The address of what waits for the caller. */
export const INBOX = '#/inbox';

/** The address of a space or of one of its messages. */
export const hashOf = (spaceId: string, seq?: number): string =>
  `#/s/${encodeURIComponent(spaceId)}${seq === undefined ? '' : `/m/${seq}`}`;

/** The address of a space's settings. */
export const settingsHash = (spaceId: string): string => `${hashOf(spaceId)}/settings`;

/** The address of the page of a run, at the step with this index. */
export const runHash = (runId: string, step?: number): string =>
  `#/r/${encodeURIComponent(runId)}${step === undefined ? '' : `?step=${step}`}`;

/** The address of an agent, at one of its tabs. */
export const agentHash = (agentId: string, tab = 'setup'): string =>
  `#/a/${encodeURIComponent(agentId)}/${tab}`;

/** The address of a list with these filters. Empty filters are left out. */
export function listHash(page: 'runs' | 'usage', filters: Record<string, string> = {}): string {
  const set = Object.entries(filters).filter(([, value]) => value !== '');
  return `#/${page}${set.length > 0 ? `?${new URLSearchParams(set)}` : ''}`;
}

/** Opens a space, at one of its messages. `isReplacing`: without a new entry in the history. */
export const openSpace = (spaceId: string, isReplacing = false, seq?: number): void =>
  open(hashOf(spaceId, seq), isReplacing);

/** Opens the drawer that explains a run, or closes it. The rest of the address stays. */
export function openWhy(runId: string | null, tab?: string): void {
  const [place] = location.hash.split('?');
  const query = runId === null ? '' : `?why=${encodeURIComponent(runId)}`;
  open(`${place}${query}${runId !== null && tab ? `&tab=${tab}` : ''}`);
}

/** Opens an address that one of the functions above has made, unless text there is not saved. */
export function open(hash: string, isReplacing = false): void {
  if (hash === location.hash || !mayLeave()) return;
  shown = hash;
  history[isReplacing ? 'replaceState' : 'pushState'](null, '', hash);
  listeners.forEach((listener) => listener());
}

// A refused link leaves no trace in the history.
document.addEventListener(
  'click',
  (event) => {
    const link = event.target instanceof Element && event.target.closest('a');
    const isHere = link && link.origin === location.origin && link.hash !== '' && !link.target;
    const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
    if (isHere && !isElsewhere && link.hash !== location.hash && !mayLeave())
      event.preventDefault();
  },
  true,
);

export function useAddress(): Address {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = () => {
      // The browser's buttons have changed it already.
      if (location.hash !== shown && !mayLeave()) return history.pushState(null, '', shown);
      shown = location.hash;
      setHash(shown);
    };
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

/**
 * Whether the address names no page right now. The page may not have drawn it yet. A key or an
 * invite in it is still to be read.
 */
export const isNowhere = (): boolean =>
  !/^#(key|token|invite)=/.test(location.hash) &&
  ['nowhere', 'list'].includes(addressOf(location.hash).page);

function addressOf(hash: string): Address {
  const [path = '', query = ''] = hash.split('?', 2);
  const filters = new URLSearchParams(query);
  try {
    const [root, kind, ...words] = path.split('/').map(decodeURIComponent);
    return root === '#' ? named(kind, words, filters) : NOWHERE;
  } catch {
    return NOWHERE;
  }
}

function named(kind: string | undefined, words: string[], filters: URLSearchParams): Address {
  const [id = '', more = '', seq = ''] = words;
  switch (kind) {
    case '':
      return { page: 'list' };
    case 'agents':
      return { page: 'agents', isNew: id === 'new' };
    case 'inbox':
    case 'people':
      return { page: kind };
    case 'runs':
    case 'usage':
      return { page: kind, filters };
  }
  if (id === '') return NOWHERE;
  switch (kind) {
    case 's': {
      if (more === 'settings') return { page: 'settings', spaceId: id };
      const isMessage = more === 'm' && /^\d+$/.test(seq);
      const [runId, tab] = [filters.get('why'), filters.get('tab')];
      return { page: 'space', spaceId: id, seq: isMessage ? Number(seq) : null, runId, tab };
    }
    case 'r': {
      const step = filters.get('step') ?? '';
      return { page: 'run', runId: id, step: /^\d+$/.test(step) ? Number(step) : null };
    }
    case 'a':
      return { page: 'agent', agentId: id, tab: more || 'setup' };
  }
  return NOWHERE;
}
