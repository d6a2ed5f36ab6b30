// Which spaces a socket follows: subscriptions that are sent, confirmed, refused and queued.

import type { ErrorFrame } from '../events.ts';
import { AT_ONCE, CONNECT_LIMIT_MS, QUEUE_MS, REFUSED_MS, SUBSCRIBE_LIMIT_MS } from '../limits.ts';
import { isEager, isOpen, seqOf, show, write, type Core, type Link } from './core.ts';

// The server applies only a frame with a higher number than before.
const nextN = (core: Core) => (core.lastN += 1);

/** Whether all spaces that somebody looks at are followed over this link. */
const isReady = (core: Core, link: Link) =>
  ![...link.unconfirmed].some((id) => isEager(core.followers.get(id)));

/** The connection is live, once it follows all spaces that somebody looks at. */
export function settle(core: Core, link: Link) {
  if (!isReady(core, link)) return;
  if (link === core.next) core.dispatch('ready');
  else show(core, 'live');
}

/** Gives up a socket that is not ready in time. */
export const limitConnecting = (core: Core, link: Link) =>
  link.timers.after('connect', CONNECT_LIMIT_MS, () => core.dispatch('failed'));

/** A socket has opened. The spaces that somebody looks at are subscribed to first. */
export function subscribeAll(core: Core, link: Link) {
  const eager = [...core.followers].filter(([, set]) => isEager(set));
  for (const [index, [spaceId]] of eager.entries()) {
    link.unconfirmed.add(spaceId);
    // The server takes a few subscriptions at once, and then two a second.
    if (index < AT_ONCE) subscribe(core, link, spaceId);
    else subscribeLater(core, link, spaceId);
  }
  settle(core, link);
}

/** Subscribes to a space over a link, again and again until that is confirmed. */
export function subscribe(core: Core, link: Link | null, spaceId: string) {
  const wanted = core.followers.get(spaceId);
  if (!link || !isOpen(link) || !wanted) return;
  const afterSeq = seqOf(wanted);
  const id = `subscribe ${spaceId}`;
  link.unconfirmed.add(spaceId);
  // The answer can be lost.
  link.timers.after(id, SUBSCRIBE_LIMIT_MS, () => subscribe(core, link, spaceId));
  write(link, {
    action: 'subscribe',
    id,
    spaceId,
    // JSON leaves an undefined field out.
    afterSeq: afterSeq < Infinity ? afterSeq : undefined,
    n: nextN(core),
  });
}

/** Subscribes to a space after those that wait already. */
export function subscribeLater(core: Core, link: Link, spaceId: string, delayMs = 0) {
  const { queued, timers } = link;
  const subscribeNext = () => {
    const [next] = queued;
    if (next === undefined) return;
    queued.delete(next);
    subscribe(core, link, next);
    timers.after('queue', QUEUE_MS, subscribeNext);
  };
  queued.add(spaceId);
  if (delayMs > 0 || !timers.has('queue')) timers.after('queue', delayMs, subscribeNext);
}

/** Nobody follows a space any longer. */
export function unsubscribe(core: Core, spaceId: string) {
  for (const link of [core.link, core.next]) {
    write(link, { action: 'unsubscribe', spaceId, n: nextN(core) });
    if (link) confirm(core, link, spaceId);
  }
}

/** The server has answered a subscription, or it is not wanted any longer. */
export function confirm(core: Core, link: Link, spaceId: string) {
  link.timers.clear(`subscribe ${spaceId}`);
  if (!link.unconfirmed.delete(spaceId)) return;
  // Many subscriptions take long. Only a socket that does not get on is given up.
  if (link === core.next) limitConnecting(core, link);
  settle(core, link);
}

/** A subscription has failed. Returns whether nobody else needs to know. */
export function refuse(core: Core, link: Link, frame: ErrorFrame): boolean {
  const { status } = frame;
  // The request's id comes back with its error.
  const [kind, spaceId = ''] = String(frame.id).split(' ');
  if (kind !== 'subscribe') return false;
  const name = `subscribe ${spaceId}`;
  const isInvalid = status === 422;
  if (isInvalid || status === 403 || status === 404) {
    if (!isInvalid) core.followers.get(spaceId)?.forEach((each) => each.receive(frame));
    // The other spaces do not wait for it.
    confirm(core, link, spaceId);
    if (isInvalid) link.timers.after(name, REFUSED_MS, () => subscribe(core, link, spaceId));
    return true;
  }
  const delayMs = (frame.retryAfter ?? 1) * 1000;
  if (!isReady(core, link)) show(core, 'stalled', { retryAt: core.env.now() + delayMs });
  link.timers.clear(name);
  subscribeLater(core, link, spaceId, delayMs);
  return true;
}
