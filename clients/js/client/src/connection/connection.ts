// The WebSocket connection. It follows any number of spaces, reconnects by itself, and moves to a
// new socket before the server's limit of two hours: see transitions.ts.

import type { Environment } from '../environment.ts';
import type { ServerFrame } from '../frames.ts';
import type { Call } from '../http.ts';
import { createStore, lifetime } from '../store.ts';
import { createTimers } from '../timers.ts';
import type { ConnectionState, Store } from '../types.ts';
import { write, type ConnectionParts, type EventType, type Follower } from './parts.ts';
import { subscribe, subscribeLater, unsubscribe } from './subscriptions.ts';
import { step } from './transitions.ts';

/** The connection of a client, which all its spaces share. */
export interface Connection {
  store: Store<ConnectionState>;
  /** Keeps the connection open until the result is called. */
  retain(): () => void;
  /** Follows a space until the result is called. */
  follow(follower: Follower): () => void;
  /** Calls `listener` with every frame until the result is called. It opens no connection. */
  onFrame(listener: (frame: ServerFrame) => void): () => void;
  /** Calls `act` when the connection is live. It stays open until the result is called. */
  onLive(act: () => void): () => void;
  /** Sends a frame if the connection is open. */
  send(frame: object): void;
  /** Finds out at once whether the connection is alive. */
  check(): void;
  /** A call of the HTTP API ended. */
  callEnded(isAnswered: boolean): void;
  /** Closes the connection for good. */
  close(error?: Error): void;
}

export function createConnection(env: Environment, call: Call): Connection {
  const dispatch: ConnectionParts['dispatch'] = (type, reason) => step(parts, { type, ...reason });
  const retain = lifetime(env, () => {
    dispatch('hold');
    const stopListening = env.listen((event) => platformChanged(parts, event));
    return () => {
      stopListening();
      dispatch('release');
    };
  });
  const parts: ConnectionParts = {
    env,
    call,
    dispatch,
    timers: createTimers(env),
    store: createStore<ConnectionState>(() => parts.shown, retain),
    followers: new Map(),
    listeners: new Set(),
    name: 'idle',
    shown: { state: 'connecting', since: env.now() },
    link: null,
    next: null,
    lostAt: 0,
    lastN: 0,
  };
  return {
    store: parts.store,
    retain,
    follow: (follower) => follow(parts, follower, retain),
    onFrame(listener) {
      parts.listeners.add(listener);
      return () => void parts.listeners.delete(listener);
    },
    onLive: (act) => parts.store.subscribe(() => void (parts.shown.state === 'live' && act())),
    send: (frame) => write(parts.link, frame),
    check: () => dispatch('check'),
    callEnded(isAnswered) {
      if (!isAnswered) dispatch('unanswered');
      // The server is back. An error that it gave would only come again.
      else if (!parts.shown.error) dispatch('answered');
    },
    close: (error) => dispatch('end', { error }),
  };
}

// The platform says that the network or the page has changed.
function platformChanged(parts: ConnectionParts, event: string) {
  // `visibilitychange` is in no row of the table.
  parts.dispatch(event as EventType);
  if (event !== 'offline' && !parts.env.isHidden()) parts.dispatch('check');
}

function follow(parts: ConnectionParts, follower: Follower, retain: () => () => void): () => void {
  const { spaceId } = follower;
  const set = parts.followers.get(spaceId) ?? new Set();
  parts.followers.set(spaceId, set.add(follower));
  const release = retain();
  if (!follower.lazy) for (const link of [parts.link, parts.next]) subscribe(parts, link, spaceId);
  else if (parts.link) subscribeLater(parts, parts.link, spaceId);
  return () => {
    set.delete(follower);
    if (set.size === 0 && parts.followers.delete(spaceId)) unsubscribe(parts, spaceId);
    release();
  };
}
