// A socket of the connection, and what its frames do.

import type { ServerFrame } from '../events.ts';
import { show, type Core, type Link } from './core.ts';
import { confirm, isReady, refuse, subscribe, subscribeAll } from './subscriptions.ts';

/** Opens the socket of a link. */
export function openSocket(core: Core, link: Link, url: string) {
  const { env, dispatch } = core;
  if (!env.WebSocket) return;
  let socket: WebSocket;
  try {
    socket = new env.WebSocket(url);
  } catch (error) {
    return dispatch('failed', { link, error });
  }
  link.socket = socket;
  // Node's `ws` ends the process if nobody hears its errors. `onclose` follows.
  socket.onerror = () => {};
  socket.onopen = () => subscribeAll(core, link);
  socket.onclose = () => dispatch('closed', { link });
  socket.onmessage = ({ data }) => {
    let frame: ServerFrame;
    try {
      frame = JSON.parse(data);
    } catch {
      return;
    }
    if (typeof frame?.type === 'string') receive(core, link, frame);
  };
}

/** Closes the socket of a link. What it still brings is not heard. */
export function closeSocket(link: Link | null) {
  const socket = link?.socket;
  if (!socket) return;
  socket.onopen = socket.onmessage = socket.onclose = null;
  socket.close();
}

function receive(core: Core, link: Link, frame: ServerFrame) {
  const { followers, listeners, timers, dispatch } = core;
  // Any frame shows that the connection is alive.
  timers.clear('stallDue');
  timers.clear('pongDue');
  if (core.shown.state === 'stalled' && link === core.link && isReady(core, link))
    show(core, 'live');
  if (frame.type === 'goodbye') return dispatch('goodbye', { link, goodbye: frame });
  if (frame.type === 'error' && refuse(core, link, frame)) return;
  const { spaceId } = frame as { spaceId?: string };
  listeners.forEach((heard) => heard(frame));
  const deliver = (id: string) => followers.get(id)?.forEach((each) => each.receive(frame));
  if (spaceId !== undefined) deliver(spaceId);
  if (frame.type === 'pong') Object.keys(frame.spaces ?? {}).forEach(deliver);
  // A space that the caller had left has no subscription any longer.
  if (frame.type === 'space.joined') subscribe(core, core.link, frame.spaceId);
  if (frame.type === 'subscribed' || frame.type === 'unsubscribed')
    confirm(core, link, frame.spaceId);
}
