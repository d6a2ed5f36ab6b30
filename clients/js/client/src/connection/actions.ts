// What the connection does when its state changes: sockets that are made, lost and replaced.

import { SmartspaceError } from '../http.ts';
import {
  FIRST_DELAY_MS,
  HIDDEN_PING_MS,
  LONGEST_DELAY_MS,
  MOST_PINGED,
  PING_MS,
  PONG_LIMIT_MS,
  ROLL_OVER_MS,
  STALL_MS,
  STEADY_MS,
} from './limits.ts';
import { backOff } from '../timers.ts';
import {
  isEager,
  later,
  limitConnecting,
  seqOf,
  show,
  tick,
  write,
  type Core,
  type Happened,
  type Link,
} from './core.ts';
import { closeSocket, openSocket } from './sockets.ts';
import { subscribeLater } from './subscriptions.ts';


/** Begins with nothing, as nobody held the connection before. */
export function begin(core: Core) {
  core.lostAt = 0;
  tryAgain(core);
}

/** Begins at once what was ended. */
export function tryAgain(core: Core) {
  show(core, 'connecting');
  connect(core);
}

/** Makes a socket. Each takes a ticket of its own. */
export function connect(core: Core) {
  const { timers, env, call, dispatch } = core;
  const link: Link = { unconfirmed: new Set() };
  core.next = link;
  timers.clear('retryDue');
  limitConnecting(core);
  if (!env.WebSocket) {
    const error = new Error('This runtime has no WebSocket; pass one to createClient.');
    return dispatch('unsupported', { link, error });
  }
  call<{ url: string }>('POST', '/v1/socketTickets', { body: {} }).then(
    ({ url }) => dispatch('ticket', { link, url }),
    (error) => dispatch('failed', { link, error }),
  );
}

/** The ticket of the new socket is there. */
export function open(core: Core, { link, url }: Happened) {
  if (link && url) openSocket(core, link, url);
}

/** The new socket is ready. Only now the old one is closed, so that no moment is missed. */
export function takeOver(core: Core) {
  core.timers.clear('connectDue');
  closeSocket(core.link);
  core.link = core.next;
  core.next = null;
  later(core, 'steadyDue', STEADY_MS);
  for (const [spaceId, set] of core.followers) if (!isEager(set)) subscribeLater(core, spaceId);
  // A new socket is present nowhere yet.
  tick(core);
  pingLater(core);
  later(core, 'moveDue', ROLL_OVER_MS * (1 - core.env.random() / 20));
  show(core, 'live');
}

/** The new socket failed. The present one goes on, and another attempt follows. */
export function abandonNext(core: Core) {
  closeSocket(core.next);
  core.next = null;
  core.timers.clear('connectDue');
  later(core, 'moveDue', LONGEST_DELAY_MS);
}

export const showLive = (core: Core) => show(core, 'live');

export const stall = (core: Core) => show(core, 'stalled');

const pingLater = (core: Core) =>
  later(core, 'pingDue', core.env.isHidden() ? HIDDEN_PING_MS : PING_MS);

/** Asks whether the connection is alive, and for the seqs of the spaces. */
export function ping(core: Core) {
  const { link, followers, timers } = core;
  const seqs = [...followers]
    .map(([spaceId, set]) => [spaceId, seqOf(set)] as const)
    .filter(([, seq]) => seq < Infinity);
  // One without spaces too: it shows whether the connection is alive.
  for (let from = 0; from === 0 || from < seqs.length; from += MOST_PINGED) {
    const spaces = Object.fromEntries(seqs.slice(from, from + MOST_PINGED));
    write(link, { action: 'ping', spaces });
  }
  if (!timers.has('pongDue')) {
    later(core, 'stallDue', STALL_MS);
    later(core, 'pongDue', PONG_LIMIT_MS);
  }
  pingLater(core);
  tick(core);
}

/** A connection that lasts ends the outage, so that the next one begins with a short pause. */
export function endOutage(core: Core) {
  core.lostAt = 0;
}

/** The network is back. What kept the client away before says nothing any longer. */
export function beginOutage(core: Core) {
  core.lostAt = core.env.now();
}

/** Drops the sockets, and plans the next attempt. */
export function lose(core: Core, { type, error, goodbye }: Happened) {
  const { env, link } = core;
  drop(core);
  core.lostAt ||= env.now();
  // Spread, so that the clients of a server that restarts do not come back at one moment.
  const longestMs = backOff(env.now() - core.lostAt, FIRST_DELAY_MS, LONGEST_DELAY_MS);
  const leastMs = (goodbye?.retryAfter ?? 0) * 1000;
  const delayMs = leastMs + longestMs * (0.5 + env.random() / 2);
  show(core, link && type !== 'offline' ? 'stalled' : 'offline', {
    retryAt: env.now() + delayMs,
    ...(error instanceof SmartspaceError && error.status > 0 && { error }),
  });
  later(core, 'retryDue', delayMs);
}

/** The server restarts, or the ticket has expired: another socket is made at once. */
export function reconnect(core: Core, event: Happened) {
  lose(core, event);
  connect(core);
}

/** Ends the connection, with the reason if there is one. */
export function stop(core: Core, { error, goodbye }: Happened) {
  drop(core);
  const reason = goodbye ? new Error(goodbye.reason) : error;
  show(core, 'closed', reason instanceof Error ? { error: reason } : {});
}

function drop(core: Core) {
  core.timers.stop();
  core.queued.clear();
  closeSocket(core.link);
  closeSocket(core.next);
  core.link = core.next = null;
}
