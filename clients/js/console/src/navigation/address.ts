// The addresses of the page.
//
//   #/                                     the list of spaces, in a narrow window
//   #/s/{spaceId}  #/s/{spaceId}/m/{seq}   a space, at one of its messages; `?why={runId}` opens
//                                          the drawer, `&tab=chain` its second tab;
//                                          `?thread={seq}` opens a thread
//   #/s/{spaceId}/settings                 the settings of a space
//   #/r/{runId}?step=2                     a run, at one of its steps
//   #/agents  #/agents/new                 the agents, and the templates of new ones
//   #/a/{agentId}/{tab}                    an agent; `revisions?revision=14` opens one of them
//   #/inbox  #/mentions                    what waits for the caller, and who mentions it
//   #/search?q=plan&sort=newest            what a search finds
//   #/people  #/runs  #/usage              `#/runs` and `#/usage` take filters: `?status=failed`

import { useEffect, useState } from 'preact/hooks';
import { mayLeave } from './unsaved.ts';

/** The page that an address names, with its parameters. */
export type Address =
  | { page: 'nowhere' }
  | { page: 'unknown' }
  | { page: 'list' }
  | SpaceAddress
  | { page: 'settings'; spaceId: string }
  | { page: 'run'; runId: string; step: number | null }
  | { page: 'agents'; isNew: boolean }
  | { page: 'agent'; agentId: string; tab: string; revision: number | null }
  | { page: 'inbox' | 'mentions' | 'people' }
  | SearchAddress
  | { page: 'runs' | 'usage'; filters: URLSearchParams };

/** A search. */
export interface SearchAddress {
  page: 'search';
  /** Its words and filters. */
  q: string;
  isNewestFirst: boolean;
}

/** An open space. */
export interface SpaceAddress {
  page: 'space';
  spaceId: string;
  /** The message that is shown. */
  seq: number | null;
  /** The run that the drawer explains. */
  runId: string | null;
  /** The tab of that drawer. */
  tab: string | null;
  /** The first message of the thread in the drawer. */
  thread: number | null;
}

const NOWHERE: Address = { page: 'nowhere' };
const UNKNOWN: Address = { page: 'unknown' };
const listeners = new Set<() => void>();
// The address that the page shows. The browser's is another one while the page may not be left.
let shown = location.hash;

/** The address of the list of spaces. */
export const LIST = '#/';

/** The address of what waits for the caller. */
export const INBOX = '#/inbox';

/** The address of the messages that mention the caller. */
export const MENTIONS = '#/mentions';

/** A page for operators. */
export interface BuildPage {
  name: string;
  href: string;
  /** The pages below this one, and itself. */
  pages: readonly Address['page'][];
}

/** The pages for operators. */
export const BUILD_PAGES: readonly BuildPage[] = [
  { name: 'Agents', href: '#/agents', pages: ['agents', 'agent'] },
  { name: 'People', href: '#/people', pages: ['people'] },
  { name: 'Runs', href: '#/runs', pages: ['runs', 'run'] },
  { name: 'Usage', href: '#/usage', pages: ['usage'] },
];

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

/** The address of a revision of an agent. */
export const revisionHash = (agentId: string, revision: number): string =>
  `${agentHash(agentId, 'revisions')}?revision=${revision}`;

/** The address of a list with these filters. Empty filters are left out. */
export function listHash(page: 'runs' | 'usage', filters: Record<string, string> = {}): string {
  const set = Object.entries(filters).filter(([, value]) => value !== '');
  return `#/${page}${set.length > 0 ? `?${new URLSearchParams(set)}` : ''}`;
}

/** The address of a search. */
export function searchHash(q = '', isNewestFirst = false): string {
  const query = q && `?${new URLSearchParams({ q, ...(isNewestFirst && { sort: 'newest' }) })}`;
  return `#/search${query}`;
}

/** Opens a space, at one of its messages. `isReplacing`: without a new entry in the history. */
export const openSpace = (spaceId: string, isReplacing = false, seq?: number): void =>
  open(hashOf(spaceId, seq), isReplacing);

/** The address of a space with the drawer that explains one of its runs. */
export const whyHash = (spaceId: string, runId: string): string =>
  `${hashOf(spaceId)}?why=${encodeURIComponent(runId)}`;

/** Opens the drawer that explains a run, or closes it. The rest of the address stays. */
export function openWhy(runId: string | null, tab?: string): void {
  const [place] = location.hash.split('?');
  const query = runId === null ? '' : `?why=${encodeURIComponent(runId)}`;
  open(`${place}${query}${runId !== null && tab ? `&tab=${tab}` : ''}`);
}

/** Opens the drawer with the thread of a message, or closes it. */
export function openThread(seq: number | null): void {
  const [place] = location.hash.split('?');
  open(`${place}${seq === null ? '' : `?thread=${seq}`}`);
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
    if (root === '') return NOWHERE;
    return root === '#' ? named(kind, words, filters) : UNKNOWN;
  } catch {
    return UNKNOWN;
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
    case 'mentions':
    case 'people':
      return { page: kind };
    case 'runs':
    case 'usage':
      return { page: kind, filters };
    case 'search':
      return {
        page: kind,
        q: filters.get('q') ?? '',
        isNewestFirst: filters.get('sort') === 'newest',
      };
  }
  if (id === '') return UNKNOWN;
  switch (kind) {
    case 's': {
      if (more === 'settings') return { page: 'settings', spaceId: id };
      const runId = filters.get('why');
      const tab = filters.get('tab');
      const thread = runId === null ? numberIn(filters.get('thread')) : null;
      const shown = more === 'm' ? numberIn(seq) : null;
      return { page: 'space', spaceId: id, seq: shown, runId, tab, thread };
    }
    case 'r': {
      return { page: 'run', runId: id, step: numberIn(filters.get('step')) };
    }
    case 'a': {
      const revision = numberIn(filters.get('revision'));
      return { page: 'agent', agentId: id, tab: more || 'setup', revision };
    }
  }
  return UNKNOWN;
}

const numberIn = (text: string | null) => (/^\d+$/.test(text ?? '') ? Number(text) : null);
