// Subscribes the sockets to spaces: sends, repeats and queues subscriptions, and handles answers.

import type { ErrorFrame } from '../frames.ts';
import {
  SUBSCRIBE_BURST,
  CONNECT_LIMIT_MS,
  SUBSCRIBE_INTERVAL_MS,
  REFUSED_MS,
  SUBSCRIBE_LIMIT_MS,
} from '../limits.ts';
import { isEager, isOpen, seqOf, show, write, type ConnectionParts, type Link } from './parts.ts';

/** Whether all spaces that somebody looks at are followed over this link. */
const isReady = (parts: ConnectionParts, link: Link) =>
  ![...link.unconfirmed].some((id) => isEager(parts.followers.get(id)));

/** The connection is live, once it follows all spaces that somebody looks at. */
export function showIfReady(parts: ConnectionParts, link: Link) {
  if (!isReady(parts, link)) return;
  if (link === parts.next) parts.dispatch('ready');
  else show(parts, 'live');
}

/** Gives up a socket that is not ready in time. */
export const limitConnecting = (parts: ConnectionParts, link: Link) =>
  link.timers.after('connect', CONNECT_LIMIT_MS, () => parts.dispatch('failed'));

/** A socket has opened. The spaces that somebody looks at are subscribed to first. */
export function subscribeAll(parts: ConnectionParts, link: Link) {
  const eager = [...parts.followers].filter(([, set]) => isEager(set));
  for (const [index, [spaceId]] of eager.entries()) {
    link.unconfirmed.add(spaceId);
    // The server takes a few subscriptions at once, and then two a second.
    if (index < SUBSCRIBE_BURST) subscribe(parts, link, spaceId);
    else subscribeLater(parts, link, spaceId);
  }
  showIfReady(parts, link);
}

/** Subscribes to a space over a link, again and again until that is confirmed. */
export function subscribe(parts: ConnectionParts, link: Link | null, spaceId: string) {
  const wanted = parts.followers.get(spaceId);
  if (!isOpen(link) || !wanted) return;
  const id = `subscribe ${spaceId}`;
  link.unconfirmed.add(spaceId);
  // The answer can be lost.
  link.timers.after(id, SUBSCRIBE_LIMIT_MS, () => subscribe(parts, link, spaceId));
  write(link, {
    action: 'subscribe',
    id,
    spaceId,
    afterSeq: seqOf(wanted),
    // The server applies only a frame with a higher number than before.
    n: (parts.lastN += 1),
  });
}

/** Subscribes to a space after those that wait already. */
export function subscribeLater(parts: ConnectionParts, link: Link, spaceId: string, delayMs = 0) {
  const { queued, timers } = link;
  const subscribeNext = () => {
    const [next] = queued;
    if (next === undefined) return;
    queued.delete(next);
    subscribe(parts, link, next);
    timers.after('queue', SUBSCRIBE_INTERVAL_MS, subscribeNext);
  };
  queued.add(spaceId);
  if (delayMs > 0 || !timers.has('queue')) timers.after('queue', delayMs, subscribeNext);
}

/** Nobody follows a space any longer. */
export function unsubscribe(parts: ConnectionParts, spaceId: string) {
  for (const link of [parts.link, parts.next]) {
    write(link, { action: 'unsubscribe', spaceId, n: (parts.lastN += 1) });
    if (link) confirm(parts, link, spaceId);
  }
}

/** The server has answered a subscription, or it is not wanted any longer. */
export function confirm(parts: ConnectionParts, link: Link, spaceId: string) {
  link.timers.clear(`subscribe ${spaceId}`);
  if (!link.unconfirmed.delete(spaceId)) return;
  // Many subscriptions take long. Only a socket that does not get on is given up.
  if (link === parts.next) limitConnecting(parts, link);
  showIfReady(parts, link);
}

/** A subscription has failed. Returns whether nobody else needs to know. */
export function handleRefusal(parts: ConnectionParts, link: Link, frame: ErrorFrame): boolean {
  const { status } = frame;
  // The request's id comes back with its error.
  const name = `${frame.id}`;
  const [kind, spaceId = ''] = name.split(' ');
  if (kind !== 'subscribe') return false;
  const isInvalid = status === 422;
  if (isInvalid || status === 403 || status === 404) {
    if (!isInvalid) parts.followers.get(spaceId)?.forEach((each) => each.receive(frame));
    // The other spaces do not wait for it.
    confirm(parts, link, spaceId);
    if (isInvalid) link.timers.after(name, REFUSED_MS, () => subscribe(parts, link, spaceId));
    return true;
  }
  const delayMs = (frame.retryAfter ?? 1) * 1000;
  if (!isReady(parts, link)) show(parts, 'stalled', { retryAt: parts.env.now() + delayMs });
  link.timers.clear(name);
  subscribeLater(parts, link, spaceId, delayMs);
  return true;
}
