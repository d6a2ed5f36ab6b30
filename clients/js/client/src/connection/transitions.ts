// The transitions of the connection as a table: the next state or the action for each event in each
// state. An event that a state does not list can't happen in it, or has no effect.

import { connect, enterLive, lose, ping, restartBackoff, stop } from './actions.ts';
import type { ConnectionParts, EventType, ConnectionEvent, StateName } from './parts.ts';

type Action = (parts: ConnectionParts, event: ConnectionEvent) => void;
/** The next state, or what is done while the state stays. */
type Row = { readonly [T in EventType]?: StateName | Action };

// The transitions of every state in which the connection has a holder.
const HELD: Row = { release: 'idle', end: 'ended' };

// The transitions of every state that ends when the network is lost.
const NETWORKED: Row = { ...HELD, offline: 'waiting' };

const CONNECTED: Row = {
  ...NETWORKED,
  lost: 'waiting',
  postponed: 'delayed',
  rejected: 'refused',
  check: ping,
  unanswered: ping,
};

export const TABLE: { readonly [N in StateName]: Row } = {
  /** Nobody holds the connection. */
  idle: { hold: 'connecting', end: 'ended' },
  /** The first socket is being made: its ticket, its opening, its subscriptions. */
  connecting: {
    ...NETWORKED,
    ready: 'live',
    failed: 'waiting',
    postponed: 'delayed',
    rejected: 'refused',
    online: restartBackoff,
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
    online: restartBackoff,
  },
  /** As `waiting`, but the server asked for the pause, and nothing shortens it. */
  delayed: { ...HELD, retry: 'connecting', online: restartBackoff },
  /** The server refused the caller, or has no more to say. Only a check tries again. */
  refused: { ...HELD, check: 'connecting', online: restartBackoff },
  /** The client was closed for good. */
  ended: {},
};

/** What is done when a state begins. */
const ENTER: { readonly [N in StateName]: Action } = {
  idle: stop,
  connecting: connect,
  live: enterLive,
  moving: connect,
  waiting: lose,
  delayed: lose,
  refused: stop,
  ended: stop,
};

/** Moves to the next state, or runs the action of the present one. */
export function step(parts: ConnectionParts, event: ConnectionEvent) {
  const cell = TABLE[parts.name][event.type];
  if (typeof cell === 'function') return cell(parts, event);
  if (!cell) return;
  // An action may dispatch at once; it then finds the next state.
  parts.name = cell;
  ENTER[cell](parts, event);
}
