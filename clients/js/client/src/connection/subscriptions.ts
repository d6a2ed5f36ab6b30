// Which spaces a socket follows: subscriptions that are sent, confirmed, refused and queued.

import type { ErrorFrame } from '../events.ts';
import { AT_ONCE, QUEUE_MS, REFUSED_MS, SUBSCRIBE_LIMIT_MS } from './limits.ts';
import { isEager, limitConnecting, seqOf, show, write, type Core, type Link } from './core.ts';


// The server applies only a frame with a higher number than before.
const nextN = (core: Core) => (core.lastN += 1);

/** Whether all spaces that somebody looks at are followed over this link. */
export const isReady = ({ followers }: Core, { unconfirmed }: Link) =>
  ![...unconfirmed].some((id) => isEager(followers.get(id)));

/** A socket has opened. The spaces that somebody looks at are subscribed to first. */
export function subscribeAll(core: Core, link: Link) {
  const eager = [...core.followers].flatMap(([id, set]) => (isEager(set) ? [id] : []));
  for (const [index, spaceId] of eager.entries()) {
    link.unconfirmed.add(spaceId);
    // The server takes a few subscriptions at once, and then two a second.
    if (index < AT_ONCE) subscribe(core, link, spaceId);
    else subscribeLater(core, spaceId);
  }
  core.dispatch('ready', { link });
}

/** Subscribes to a space over a link, again and again until that is confirmed. */
export function subscribe(core: Core, link: Link | null, spaceId: string) {
  const wanted = core.followers.get(spaceId);
  if (link?.socket?.readyState !== 1 || !wanted || (link !== core.link && link !== core.next))
    return;
  const afterSeq = seqOf(wanted);
  link.unconfirmed.add(spaceId);
  // The answer can be lost.
  const again = () => subscribe(core, link, spaceId);
  core.timers.after(`subscribe ${spaceId}`, SUBSCRIBE_LIMIT_MS, again);
  write(link, {
    action: 'subscribe',
    id: `subscribe ${spaceId}`,
    spaceId,
    ...(afterSeq < Infinity && { afterSeq }),
    n: nextN(core),
  });
}

/** Subscribes to a space after those that wait already. */
export function subscribeLater(core: Core, spaceId: string, delayMs = 0) {
  const { queued, timers } = core;
  queued.add(spaceId);
  if (delayMs > 0 || !timers.has('queue'))
    timers.after('queue', delayMs, () => subscribeNext(core));
}

function subscribeNext(core: Core) {
  const { queued, timers, next, link } = core;
  const [spaceId] = queued;
  if (spaceId === undefined) return;
  queued.delete(spaceId);
  subscribe(core, next?.socket?.readyState === 1 ? next : link, spaceId);
  timers.after('queue', QUEUE_MS, () => subscribeNext(core));
}

/** Nobody follows a space any longer. */
export function unsubscribe(core: Core, spaceId: string) {
  for (const link of [core.link, core.next]) {
    if (!link) continue;
    write(link, { action: 'unsubscribe', spaceId, n: nextN(core) });
    confirm(core, link, spaceId);
  }
}

/** The server has answered a subscription, or it is not wanted any longer. */
export function confirm(core: Core, link: Link, spaceId: string) {
  core.timers.clear(`subscribe ${spaceId}`);
  if (!link.unconfirmed.delete(spaceId)) return;
  // Many subscriptions take long. Only a socket that does not get on is given up.
  if (link === core.next) limitConnecting(core);
  core.dispatch('ready', { link });
}

/** A subscription has failed. Returns whether nobody else needs to know. */
export function refuse(core: Core, link: Link, frame: ErrorFrame): boolean {
  const { followers, timers, env } = core;
  // The request's id comes back with its error.
  const [kind, spaceId = ''] = String(frame.id).split(' ');
  if (kind !== 'subscribe') return false;
  const name = `subscribe ${spaceId}`;
  const { status, retryAfter = 1 } = frame;
  if (status === 403 || status === 404) {
    followers.get(spaceId)?.forEach((each) => each.receive(frame));
    confirm(core, link, spaceId);
  } else if (status === 422) {
    // The other spaces do not wait for it.
    confirm(core, link, spaceId);
    timers.after(name, REFUSED_MS, () => subscribe(core, core.link, spaceId));
  } else {
    const delayMs = retryAfter * 1000;
    if (!isReady(core, link)) show(core, 'stalled', { retryAt: env.now() + delayMs });
    timers.clear(name);
    subscribeLater(core, spaceId, delayMs);
  }
  return true;
}
