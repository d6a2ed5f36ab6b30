// What the connection does when its state changes: sockets that are made, lost and replaced.

import { isTemporary, type SmartspaceError } from '../errors.ts';
import {
  EXPIRED,
  FIRST_DELAY_MS,
  HIDDEN_PING_MS,
  LONGEST_DELAY_MS,
  MOST_PINGED,
  PING_MS,
  PONG_LIMIT_MS,
  RESTARTING,
  ROLL_OVER_MS,
  STALL_MS,
  STEADY_MS,
} from '../limits.ts';
import { backOff, createTimers } from '../timers.ts';
import { isEager, seqOf, show, tick, write, type Core, type Happened, type Link } from './core.ts';
import { openSocket } from './sockets.ts';
import { limitConnecting, subscribeLater } from './subscriptions.ts';

/** Makes a socket. Each takes a ticket of its own, so that an expired one is replaced. */
export function connect(core: Core) {
  const { WebSocket } = core.env;
  const link: Link = {
    unconfirmed: new Set(),
    queued: new Set(),
    timers: createTimers(core.env),
  };
  const failed = (error: Error) => {
    if (core.next !== link) return;
    // While a socket is ready, it does not matter why another one can't be made.
    const isFinal = !core.link && !(WebSocket && isTemporary(error));
    core.dispatch(isFinal ? 'rejected' : 'failed', { error });
  };
  core.next = link;
  core.timers.clear('retry');
  // After a close the page shows `connecting` again; during an outage it keeps showing the error.
  if (core.shown.state === 'closed') show(core, 'connecting');
  limitConnecting(core, link);
  if (!WebSocket) return failed(new Error('There is no WebSocket; pass one to createClient.'));
  core
    .call<{ url: string }>('POST', '/v1/socketTickets', { body: {} })
    .then((ticket) => {
      if (core.next === link) openSocket(core, link, new WebSocket(ticket.url));
    })
    .catch(failed);
}

/** A socket is ready. Only now the old one is closed, so that no moment is missed. */
export function live(core: Core, { type }: Happened) {
  const { next, timers } = core;
  const isNew = type === 'ready';
  const move = (delayMs: number) => timers.after('move', delayMs, () => core.dispatch('move'));
  closeSocket(isNew ? core.link : next);
  core.next = null;
  // The present socket goes on, and another attempt to replace it follows.
  if (!isNew || !next) return move(LONGEST_DELAY_MS);
  core.link = next;
  next.timers.clear('connect');
  move(ROLL_OVER_MS * (1 - core.env.random() / 20));
  // A connection that lasts ends the outage, so that the next one begins with a short pause.
  timers.after('steady', STEADY_MS, () => (core.lostAt = 0));
  for (const [spaceId, set] of core.followers)
    if (!isEager(set)) subscribeLater(core, next, spaceId);
  // A new socket is present nowhere yet.
  tick(core);
  pingLater(core);
  show(core, 'live');
}

function pingLater(core: Core) {
  const delayMs = core.env.isHidden() ? HIDDEN_PING_MS : PING_MS;
  core.timers.after('ping', delayMs, () => ping(core));
}

/** Asks whether the connection is alive, and for the seqs of the spaces. */
function ping(core: Core) {
  const { link } = core;
  if (!link) return;
  const seqs = [...core.followers]
    .map(([spaceId, set]) => [spaceId, seqOf(set)] as const)
    .filter(([, seq]) => seq < Infinity);
  // One without spaces too: it shows whether the connection is alive.
  do {
    const spaces = Object.fromEntries(seqs.splice(0, MOST_PINGED));
    write(link, { action: 'ping', spaces });
  } while (seqs.length > 0);
  if (!link.timers.has('pong'))
    link.timers.after('pong', STALL_MS, () => {
      show(core, 'stalled');
      link.timers.after('pong', PONG_LIMIT_MS - STALL_MS, () => core.dispatch('lost'));
    });
  pingLater(core);
  tick(core);
}

/** Finds out at once whether the connection is alive, unless that is under way. */
export function check(core: Core) {
  if (!core.link?.timers.has('pong')) ping(core);
}

/** The network is back. What kept the client away before says nothing any longer. */
export function beginOutage(core: Core) {
  core.lostAt = core.env.now();
}

/** Drops the sockets, and plans the next attempt. */
export function lose(core: Core, { type, error, goodbye }: Happened) {
  const { link, lostAt } = core;
  const now = core.env.now();
  drop(core);
  core.lostAt ||= now;
  // Spread, so that the clients of a server that restarts do not come back at one moment.
  const longestMs = backOff(now - core.lostAt, FIRST_DELAY_MS, LONGEST_DELAY_MS);
  const leastMs = (goodbye?.retryAfter ?? 0) * 1000;
  const delayMs = leastMs + longestMs * (0.5 + core.env.random() / 2);
  show(core, link && type !== 'offline' ? 'stalled' : 'offline', {
    retryAt: now + delayMs,
    // Without an answer there is nothing to show but the outage.
    ...(isAnswer(error) && { error }),
  });
  const retry = () => core.dispatch('retry');
  core.timers.after('retry', delayMs, retry);
  // Another socket is made at once, but only the first time in an outage: a server may restart
  // again and again.
  const isExpected = goodbye?.code === RESTARTING || goodbye?.code === EXPIRED;
  if (!lostAt && !leastMs && isExpected) retry();
}

const isAnswer = (error?: Partial<SmartspaceError>): error is SmartspaceError => !!error?.status;

/** Ends the connection, with the reason if there is one. */
export function stop(core: Core, { type, error, goodbye }: Happened) {
  drop(core);
  // The next holder begins with nothing.
  if (type === 'release') core.lostAt = 0;
  const reason = goodbye ? new Error(goodbye.reason) : error;
  show(core, 'closed', reason && { error: reason });
}

function drop(core: Core) {
  core.timers.stop();
  closeSocket(core.link);
  closeSocket(core.next);
  core.link = core.next = null;
}

// What the socket still brings is not heard.
function closeSocket(link: Link | null) {
  link?.timers.stop();
  const socket = link?.socket;
  if (!socket) return;
  socket.onopen = socket.onmessage = socket.onclose = null;
  socket.close();
}
