// What a socket of the connection brings.

import type { Goodbye, ServerFrame } from '../events.ts';
import { SAID_ALL } from '../limits.ts';
import type { Core, Link } from './core.ts';
import { confirm, refuse, settle, subscribe, subscribeAll } from './subscriptions.ts';

/** Hears the socket of a link. */
export function openSocket(core: Core, link: Link, socket: WebSocket) {
  link.socket = socket;
  // Node's `ws` ends the process if nobody hears its errors. `onclose` follows.
  socket.onerror = () => {};
  socket.onopen = () => subscribeAll(core, link);
  socket.onclose = () => core.dispatch(link === core.link ? 'lost' : 'failed');
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

function receive(core: Core, link: Link, frame: ServerFrame) {
  // Any frame shows that the connection is alive.
  link.timers.clear('pong');
  if (link === core.link) settle(core, link);
  if (frame.type === 'goodbye') return dismiss(core, link, frame);
  if (frame.type === 'error' && refuse(core, link, frame)) return;
  const { spaceId } = frame as { spaceId?: string };
  core.listeners.forEach((heard) => heard(frame));
  const deliver = (id: string) => core.followers.get(id)?.forEach((each) => each.receive(frame));
  if (spaceId !== undefined) deliver(spaceId);
  if (frame.type === 'pong') Object.keys(frame.spaces ?? {}).forEach(deliver);
  // A space that the caller had left has no subscription any longer.
  if (frame.type === 'space.joined') subscribe(core, link, frame.spaceId);
  // Without a reason it answers an `unsubscribe`, and the space may be wanted again by now.
  if (frame.type === 'subscribed' || (frame.type === 'unsubscribed' && frame.reason))
    confirm(core, link, frame.spaceId);
}

// The server is about to close the socket.
function dismiss(core: Core, link: Link, goodbye: Goodbye) {
  if (goodbye.code === SAID_ALL) return core.dispatch('rejected', { goodbye });
  // While the present socket is ready, the other one may go.
  if (core.link && core.link !== link) return;
  const type = core.link ? 'lost' : 'failed';
  core.dispatch(goodbye.retryAfter ? 'postponed' : type, { goodbye });
}
