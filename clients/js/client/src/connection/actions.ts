// The actions of the connection's transitions: they make, check, replace and drop sockets.

import { isTemporary, type SmartspaceError } from '../errors.ts';
import {
  CLOSE_EXPIRED,
  FIRST_DELAY_MS,
  LONGEST_DELAY_MS,
  MOST_PINGED,
  PING_MS,
  PONG_LIMIT_MS,
  CLOSE_RESTARTING,
  ROLL_OVER_MS,
  STALL_MS,
  STALE_MS,
  STEADY_MS,
} from '../limits.ts';
import { backOff, createTimers } from '../timers.ts';
import {
  isEager,
  seqOf,
  show,
  write,
  type ConnectionParts,
  type ConnectionEvent,
  type Link,
} from './parts.ts';
import { openSocket } from './sockets.ts';
import { limitConnecting, subscribeLater } from './subscriptions.ts';

/** Makes a socket. Each takes a ticket of its own, so that an expired one is replaced. */
export function connect(parts: ConnectionParts) {
  const { WebSocket } = parts.env;
  const link: Link = {
    unconfirmed: new Set(),
    queued: new Set(),
    timers: createTimers(parts.env),
  };
  const failed = (error: Error) => {
    if (parts.next !== link) return;
    // While a socket is ready, it does not matter why another one can't be made.
    const isFinal = !parts.link && !(WebSocket && isTemporary(error));
    parts.dispatch(isFinal ? 'rejected' : 'failed', { error });
  };
  parts.next = link;
  parts.timers.clear('retry');
  // After a close the page shows `connecting` again; during an outage it keeps showing the error.
  if (parts.shown.state === 'closed') show(parts, 'connecting');
  limitConnecting(parts, link);
  if (!WebSocket) return failed(new Error('Pass a WebSocket to createClient.'));
  parts
    .call<{ url: string }>('POST', '/v1/socketTickets', { body: {} })
    .then((ticket) => {
      if (parts.next === link) openSocket(parts, link, new WebSocket(ticket.url));
    })
    .catch(failed);
}

/**
 * The next socket is ready, or was given up. The old one is closed only now, so that no event is
 * missed.
 */
export function enterLive(parts: ConnectionParts, { type }: ConnectionEvent) {
  const { next, timers } = parts;
  const isNew = type === 'ready';
  const move = (delayMs: number) => timers.after('move', delayMs, () => parts.dispatch('move'));
  closeSocket(isNew ? parts.link : next);
  parts.next = null;
  // The present socket stays, and another attempt to replace it follows.
  if (!isNew || !next) return move(LONGEST_DELAY_MS);
  parts.link = next;
  next.timers.clear('connect');
  move(ROLL_OVER_MS * (1 - parts.env.random() / 20));
  // A connection that lasts ends the outage, so that the next one begins with a short pause.
  timers.after('steady', STEADY_MS, () => (parts.lostAt = 0));
  for (const [spaceId, set] of parts.followers)
    if (!isEager(set)) subscribeLater(parts, next, spaceId);
  // A new socket is present nowhere yet.
  ping(parts);
  tick(parts);
  show(parts, 'live');
}

/**
 * Asks whether the connection is alive and for the seqs of the spaces, and renews presence, unless
 * a pong is still expected.
 */
export function ping(parts: ConnectionParts) {
  // Only the states that have a socket ping.
  const link = parts.link as Link;
  if (link.timers.has('pong')) return;
  const followed = [...parts.followers];
  // The server refuses to show presence in a space that this socket does not follow yet.
  const isPresent = ([spaceId, set]: (typeof followed)[number]) =>
    [...set].some((each) => each.present?.()) && !link.unconfirmed.has(spaceId);
  // One without spaces too: it shows whether the connection is alive.
  do {
    const some = followed.splice(0, MOST_PINGED);
    write(link, {
      action: 'ping',
      spaces: Object.fromEntries(some.map(([spaceId, set]) => [spaceId, seqOf(set)])),
      present: some.filter(isPresent).map(([spaceId]) => spaceId),
    });
  } while (followed.length > 0);
  link.timers.after('pong', STALL_MS, () => {
    show(parts, 'stalled');
    link.timers.after('pong', PONG_LIMIT_MS - STALL_MS, () => parts.dispatch('lost'));
  });
  parts.timers.after('ping', PING_MS, () => ping(parts));
}

// Lets the followers look now and then for what they have missed. That costs no frame.
function tick(parts: ConnectionParts) {
  // A server may close a connection that follows nothing after two silent minutes.
  if (parts.followers.size === 0) ping(parts);
  parts.followers.forEach((set) => set.forEach((each) => each.tick?.()));
  parts.timers.after('tick', STALE_MS, () => tick(parts));
}

/** The network is back. The length of the outage so far does not lengthen the next pause. */
export function restartBackoff(parts: ConnectionParts) {
  parts.lostAt = parts.env.now();
}

/** Drops the sockets, and plans the next attempt. */
export function lose(parts: ConnectionParts, { type, error, goodbye }: ConnectionEvent) {
  const { link, lostAt } = parts;
  const now = parts.env.now();
  drop(parts);
  parts.lostAt ||= now;
  // Spread, so that the clients of a server that restarts do not come back at one moment.
  const longestMs = backOff(now - parts.lostAt, FIRST_DELAY_MS, LONGEST_DELAY_MS);
  const leastMs = (goodbye?.retryAfter ?? 0) * 1000;
  const delayMs = leastMs + longestMs * (0.5 + parts.env.random() / 2);
  show(parts, link && type !== 'offline' ? 'stalled' : 'offline', {
    retryAt: now + delayMs,
    // Without an answer there is nothing to show but the outage.
    ...((error as SmartspaceError | undefined)?.status && { error: error as Error }),
  });
  const retry = () => parts.dispatch('retry');
  parts.timers.after('retry', delayMs, retry);
  // Another socket is made at once, but only the first time in an outage: a server may restart
  // again and again.
  const isExpected = goodbye?.code === CLOSE_RESTARTING || goodbye?.code === CLOSE_EXPIRED;
  if (!lostAt && !leastMs && isExpected) retry();
}

/** Ends the connection, with the reason if there is one. */
export function stop(parts: ConnectionParts, { type, error, goodbye }: ConnectionEvent) {
  drop(parts);
  // The next holder begins with nothing.
  if (type === 'release') parts.lostAt = 0;
  const reason = goodbye ? new Error(goodbye.reason) : error;
  show(parts, 'closed', reason && { error: reason });
}

function drop(parts: ConnectionParts) {
  parts.timers.stop();
  closeSocket(parts.link);
  closeSocket(parts.next);
  parts.link = parts.next = null;
}

// Frames that still arrive on the socket are ignored.
function closeSocket(link: Link | null) {
  link?.timers.stop();
  const socket = link?.socket;
  if (!socket) return;
  socket.onopen = socket.onmessage = socket.onclose = null;
  socket.close();
}
