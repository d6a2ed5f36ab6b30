// The WebSocket connection. It follows any number of spaces, reconnects by itself, and moves to a
// new socket before the server's limit of two hours: see table.ts.

import type { Environment } from '../environment.ts';
import type { ServerFrame } from '../events.ts';
import type { Call } from '../http.ts';
import { createStore, lifetime } from '../store.ts';
import { createTimers } from '../timers.ts';
import type { ConnectionState, Store } from '../types.ts';
import { tick, write, type Core, type EventType, type Follower } from './core.ts';
import { subscribe, subscribeLater, unsubscribe } from './subscriptions.ts';
import { step } from './table.ts';

/** The connection of a client, which all its spaces share. */
export interface Connection {
  store: Store<ConnectionState>;
  /** Keeps the connection open until the result is called. */
  retain(): () => void;
  /** Follows a space until the result is called. */
  follow(follower: Follower): () => void;
  /** Calls `heard` with every frame, until the result is called. It does not open a connection. */
  onFrame(heard: (frame: ServerFrame) => void): () => void;
  /** Calls `act` when the connection is live. It stays open until the result is called. */
  onLive(act: () => void): () => void;
  /** Sends a frame if the connection is open. */
  send(frame: object): void;
  /** Finds out at once whether the connection is alive. */
  check(): void;
  /** A call of the HTTP API ended. */
  called(isAnswered: boolean): void;
  /** Closes the connection for good. */
  close(error?: Error): void;
}

export function createConnection(env: Environment, call: Call): Connection {
  const dispatch: Core['dispatch'] = (type, reason) => step(core, { type, ...reason });
  const retain = lifetime(env, () => {
    dispatch('hold');
    const stopListening = env.listen((event) => wake(core, event));
    return () => {
      stopListening();
      dispatch('release');
    };
  });
  const core: Core = {
    env,
    call,
    dispatch,
    timers: createTimers(env),
    store: createStore<ConnectionState>(() => core.shown, retain),
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
    store: core.store,
    retain,
    follow: (follower) => follow(core, follower, retain),
    onFrame(heard) {
      core.listeners.add(heard);
      return () => void core.listeners.delete(heard);
    },
    onLive: (act) => core.store.subscribe(() => void (core.shown.state === 'live' && act())),
    send: (frame) => write(core.link, frame),
    check: () => dispatch('check'),
    called(isAnswered) {
      if (!isAnswered) dispatch('unanswered');
      // The server is back. An error that it gave would only come again.
      else if (!core.shown.error) dispatch('answered');
    },
    close: (error) => dispatch('end', { error }),
  };
}

// The platform says that the network or the page has changed.
function wake(core: Core, event: string) {
  if (event === 'visibilitychange') tick(core);
  else core.dispatch(event as EventType);
  if (event !== 'offline' && !core.env.isHidden()) core.dispatch('check');
}

function follow(core: Core, follower: Follower, retain: () => () => void): () => void {
  const { spaceId, lazy } = follower;
  const set = core.followers.get(spaceId) ?? new Set();
  core.followers.set(spaceId, set.add(follower));
  const release = retain();
  if (!lazy) for (const link of [core.link, core.next]) subscribe(core, link, spaceId);
  else if (core.link) subscribeLater(core, core.link, spaceId);
  return () => {
    set.delete(follower);
    if (set.size === 0 && core.followers.delete(spaceId)) unsubscribe(core, spaceId);
    release();
  };
}
