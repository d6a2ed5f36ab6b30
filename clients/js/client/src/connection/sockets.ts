// Receives the frames of a socket, and passes them on to the followers of their spaces.

import type { Goodbye, ServerFrame } from '../frames.ts';
import { CLOSE_NORMAL } from '../limits.ts';
import type { ConnectionParts, Link } from './parts.ts';
import { confirm, handleRefusal, showIfReady, subscribe, subscribeAll } from './subscriptions.ts';

/** Handles the events of a link's socket. */
export function openSocket(parts: ConnectionParts, link: Link, socket: WebSocket) {
  link.socket = socket;
  // Node's `ws` ends the process on an error without a handler. `onclose` follows.
  socket.onerror = () => {};
  socket.onopen = () => subscribeAll(parts, link);
  socket.onclose = () => parts.dispatch(link === parts.link ? 'lost' : 'failed');
  socket.onmessage = (event) => {
    let frame: ServerFrame;
    try {
      frame = JSON.parse(event.data);
    } catch {
      return;
    }
    if (typeof frame?.type === 'string') receive(parts, link, frame);
  };
}

function receive(parts: ConnectionParts, link: Link, frame: ServerFrame) {
  // Any frame shows that the connection is alive.
  link.timers.clear('pong');
  if (link === parts.link) showIfReady(parts, link);
  if (frame.type === 'goodbye') return dismiss(parts, link, frame);
  if (frame.type === 'error' && handleRefusal(parts, link, frame)) return;
  const { spaceId } = frame as { spaceId?: string };
  parts.listeners.forEach((listener) => listener(frame));
  const deliver = (id: string) => parts.followers.get(id)?.forEach((each) => each.receive(frame));
  if (spaceId !== undefined) deliver(spaceId);
  if (frame.type === 'pong') Object.keys(frame.spaces).forEach(deliver);
  // A space that the caller had left has no subscription any longer.
  if (frame.type === 'space.joined') subscribe(parts, link, frame.spaceId);
  // Without a reason it answers an `unsubscribe`, and the space may be wanted again by now.
  if (frame.type === 'subscribed' || (frame.type === 'unsubscribed' && frame.reason))
    confirm(parts, link, frame.spaceId);
}

// The server is about to close the socket.
function dismiss(parts: ConnectionParts, link: Link, goodbye: Goodbye) {
  if (goodbye.code === CLOSE_NORMAL) return parts.dispatch('rejected', { goodbye });
  // While the present socket is ready, the other one may go.
  if (parts.link && parts.link !== link) return;
  const type = parts.link ? 'lost' : 'failed';
  parts.dispatch(goodbye.retryAfter ? 'postponed' : type, { goodbye });
}
