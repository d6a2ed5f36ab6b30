// The connection as a table: what each event does in each state. An event that a state does not
// list can't happen in it, or has no effect.

import { beginOutage, check, connect, live, lose, stop } from './actions.ts';
import type { Core, EventType, Happened, Name } from './core.ts';

type Action = (core: Core, event: Happened) => void;
/** The next state, or what is done while the state stays. */
type Row = { readonly [T in EventType]?: Name | Action };

// The transitions of every state in which the connection has a holder.
const HELD: Row = { release: 'idle', end: 'ended' };

// The transitions of every state that an outage of the network ends.
const NETWORKED: Row = { ...HELD, offline: 'waiting' };

const CONNECTED: Row = {
  ...NETWORKED,
  lost: 'waiting',
  postponed: 'delayed',
  rejected: 'refused',
  check,
  unanswered: check,
};

export const TABLE: { readonly [N in Name]: Row } = {
  /** Nobody holds the connection. */
  idle: { hold: 'connecting', end: 'ended' },
  /** The first socket is being made: its ticket, its opening, its subscriptions. */
  connecting: {
    ...NETWORKED,
    ready: 'live',
    failed: 'waiting',
    postponed: 'delayed',
    rejected: 'refused',
    online: beginOutage,
  },
  /** One socket is ready. */
  live: { ...CONNECTED, move: 'moving' },
  /** One socket is ready, and the one that takes its place is being made. */
  moving: { ...CONNECTED, ready: 'live', failed: 'live' },
  /** The connection was lost. The next attempt is timed, and may be made at once. */
  waiting: {
    ...NETWORKED,
    retry: 'connecting',
    check: 'connecting',
    answered: 'connecting',
    online: beginOutage,
  },
  /** As `waiting`, but the server asked for the pause, and nothing shortens it. */
  delayed: { ...HELD, retry: 'connecting', online: beginOutage },
  /** The server refused the caller, or has no more to say. Only a check tries again. */
  refused: { ...HELD, check: 'connecting', online: beginOutage },
  /** The client was closed for good. */
  ended: {},
};

/** What is done when a state begins. */
const ENTER: { readonly [N in Name]: Action } = {
  idle: stop,
  connecting: connect,
  live,
  moving: connect,
  waiting: lose,
  delayed: lose,
  refused: stop,
  ended: stop,
};

/** Does what the table says. */
export function step(core: Core, event: Happened) {
  const cell = TABLE[core.name][event.type];
  if (typeof cell === 'function') return cell(core, event);
  if (!cell) return;
  // An action may dispatch at once; it then finds the next state.
  core.name = cell;
  ENTER[cell](core, event);
}
