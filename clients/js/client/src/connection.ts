// The WebSocket connection. It follows any number of spaces, reconnects by itself, and moves to a
// new socket before the server's limit of two hours.

import type { Environment } from './environment.ts';
import type { ErrorFrame, Goodbye, ServerFrame } from './events.ts';
import { SmartspaceError, isTemporary, type Call } from './http.ts';
import { createStore, lifetime, same } from './store.ts';
import { backOff, createTimers } from './timers.ts';
import type { ConnectionState, Store } from './types.ts';

const CONNECT_LIMIT_MS = 10_000;
const PING_MS = 30_000;
const HIDDEN_PING_MS = 4 * 60_000; // API Gateway closes a connection after ten silent minutes.
const SUBSCRIBE_LIMIT_MS = 5000;
const STALL_MS = 2500;
const PONG_LIMIT_MS = 10_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
const ROLL_OVER_MS = 110 * 60_000; // API Gateway closes a connection after two hours.
const AT_ONCE = 6;
const QUEUE_MS = 600;
const STEADY_MS = 2000; // A connection that lasts this long ends an outage.
const REFUSED_MS = 30_000;
const MOST_PINGED = 20; // The spaces that one ping may name.
const EXPIRED = 1008; // Close codes, as the server sends them in `goodbye`.
const RESTARTING = 1012;

/** Somebody who follows a space. */
export interface Follower {
  spaceId: string;
  /** Subscribes when the others have. The connection is live without it. */
  lazy?: boolean;
  /** The seq after which messages are wanted; Infinity if none are. */
  afterSeq(): number;
  /** Gets the events of the space and the answers that concern it. */
  receive(frame: ServerFrame): void;
  /** Called now and then while connected: with each ping, and when the page is shown or hidden. */
  tick?(): void;
}

export interface Connection {
  store: Store<ConnectionState>;
  /** Keeps the connection open until the result is called. */
  retain(): () => void;
  /** Follows a space until the result is called. */
  follow(follower: Follower): () => void;
  /** Calls `heard` with every frame, until the result is called. It does not open a connection. */
  onFrame(heard: (frame: ServerFrame) => void): () => void;
  /** Sends a frame if the connection is open. */
  send(frame: object): void;
  /** Finds out at once whether the connection is alive. */
  check(): void;
  /** A call of the HTTP API ended. */
  called(isAnswered: boolean): void;
  /** Closes the connection for good. */
  close(error?: Error): void;
}

/** One socket. During a roll-over there are two. */
interface Link {
  socket: WebSocket;
  /** The spaces whose subscription is not confirmed yet. */
  unconfirmed: Set<string>;
  /** Gives up before the socket is ready. */
  failed: () => void;
}

export function createConnection(env: Environment, call: Call): Connection {
  const followers = new Map<string, Set<Follower>>();
  const listeners = new Set<(frame: ServerFrame) => void>();
  const timers = createTimers(env);
  const { after, clear } = timers;
  let link: Link | null = null;
  // The socket that takes the place of `link` once its subscriptions are confirmed.
  let next: Link | null = null;
  let attempt = 0;
  let lostAt = 0;
  let lastN = 0; // An older frame about a subscription never undoes a newer one.
  // Spaces to subscribe to, one after the other.
  const queued = new Set<string>();
  let isCounted = true;
  let isOpen = false;
  let isEnded = false;
  let state: ConnectionState = { state: 'connecting', since: env.now() };

  const retain = lifetime(env, () => {
    if (isEnded) return () => {};
    isOpen = true;
    lostAt = 0;
    set('connecting');
    const stopListening = env.listen(woke);
    connect();
    return () => {
      stopListening();
      if (!isOpen) return;
      isOpen = false;
      stop();
    };
  });
  const store = createStore<ConnectionState>(() => state, retain);

  function set(name: ConnectionState['state'], more: Partial<ConnectionState> = {}) {
    const since = name === state.state ? state.since : env.now();
    const after = same(state, { state: name, since, ...more });
    if (after === state) return;
    state = after;
    store.changed();
  }

  function woke(event: string) {
    if (event === 'offline') return lost(undefined, 0, true);
    if (event === 'visibilitychange') tick();
    if (event === 'online' && !link) lostAt = env.now();
    if (!env.isHidden()) check();
  }

  async function connect() {
    clear('retry');
    const mine = ++attempt;
    const failed = (error?: unknown) => {
      if (mine !== attempt) return;
      if (!link) return lost(error);
      // While a roll-over fails, the present socket goes on.
      close(next);
      next = null;
      clear('connect');
      after('rollOver', LONGEST_DELAY_MS, connect);
    };
    after('connect', CONNECT_LIMIT_MS, () => failed());
    if (!env.WebSocket)
      return stop(new Error('This runtime has no WebSocket; pass one to createClient.'));
    let socket: WebSocket;
    try {
      const ticket = await call<{ url: string }>('POST', '/v1/socketTickets', { body: {} });
      if (mine !== attempt) return;
      socket = new env.WebSocket(ticket.url);
    } catch (error) {
      return failed(error);
    }
    const opened: Link = { socket, unconfirmed: new Set(), failed: () => failed() };
    next = opened;
    // Node's `ws` ends the process if nobody hears its errors. `onclose` follows.
    socket.onerror = () => {};
    socket.onopen = () => {
      const eager = [...followers].flatMap(([id, set]) => (isEager(set) ? [id] : []));
      for (const [index, spaceId] of eager.entries()) {
        opened.unconfirmed.add(spaceId);
        if (index < AT_ONCE) subscribe(opened, spaceId);
        else subscribeLater(spaceId);
      }
      readyIfConfirmed(opened);
    };
    socket.onmessage = ({ data }) => {
      if (opened === link || opened === next) received(opened, data);
    };
    socket.onclose = () => {
      if (opened === link) lost();
      else if (opened === next) failed();
    };
  }

  // The spaces that somebody looks at are followed over this socket.
  const isReady = ({ unconfirmed }: Link) =>
    ![...unconfirmed].some((id) => isEager(followers.get(id)));

  function readyIfConfirmed(opened: Link) {
    if (!isReady(opened)) return;
    if (opened === next) {
      clear('connect');
      close(link);
      link = opened;
      next = null;
      after('steady', STEADY_MS, () => (lostAt = 0));
      for (const [spaceId, set] of followers) if (!isEager(set)) subscribeLater(spaceId);
      // A new socket is present nowhere yet.
      tick();
      after('ping', pingDelay(), ping);
      after('rollOver', ROLL_OVER_MS * (1 - env.random() / 20), connect);
    }
    set('live');
  }

  function received(from: Link, data: string) {
    let frame: ServerFrame;
    try {
      frame = JSON.parse(data);
    } catch {
      return;
    }
    if (typeof frame?.type !== 'string') return;
    clear('stall');
    clear('pong');
    if (state.state === 'stalled' && from === link && isReady(from)) set('live');
    if (frame.type === 'goodbye') return left(from, frame);
    if (frame.type === 'error' && refused(from, frame)) return;
    const { spaceId } = frame as { spaceId?: string };
    listeners.forEach((heard) => heard(frame));
    if (spaceId !== undefined) followers.get(spaceId)?.forEach((each) => each.receive(frame));
    // A space that the caller had left has no subscription any longer.
    if (frame.type === 'space.joined') subscribe(link, frame.spaceId);
    if (frame.type === 'pong')
      for (const id of Object.keys(frame.spaces ?? {}))
        followers.get(id)?.forEach((each) => each.receive(frame));
    if (frame.type === 'subscribed' || frame.type === 'unsubscribed')
      confirmed(from, frame.spaceId);
  }

  function confirmed(from: Link, spaceId: string) {
    clear(`subscribe ${spaceId}`);
    if (!from.unconfirmed.delete(spaceId)) return;
    if (from === next) after('connect', CONNECT_LIMIT_MS, from.failed);
    readyIfConfirmed(from);
  }

  // A subscription that failed. Returns whether nobody else needs to know.
  function refused(from: Link, frame: ErrorFrame) {
    const [kind, spaceId = '', counted] = String(frame.id).split(' ');
    if (kind !== 'subscribe') return false;
    if (frame.status === 403 || frame.status === 404) {
      followers.get(spaceId)?.forEach((each) => each.receive(frame));
      confirmed(from, spaceId);
      return true;
    }
    // A server of an earlier version does not know the counter.
    const isOld = frame.status === 422 && !!counted;
    if (isOld) isCounted = false;
    else if (frame.status === 422) {
      // The other spaces do not wait for it.
      confirmed(from, spaceId);
      after(`subscribe ${spaceId}`, REFUSED_MS, () => subscribe(link, spaceId));
      return true;
    }
    const delayMs = isOld ? 0 : (frame.retryAfter ?? 1) * 1000;
    if (!isReady(from)) set('stalled', { retryAt: env.now() + delayMs });
    clear(`subscribe ${spaceId}`);
    subscribeLater(spaceId, delayMs);
    return true;
  }

  // The server is about to close the socket.
  function left(from: Link, { code, reason, retryAfter = 0 }: Goodbye) {
    if (code === 1000) return stop(new Error(reason));
    if (link && from !== link) return;
    const isFirst = lostAt === 0 && !retryAfter;
    lost(undefined, retryAfter * 1000);
    // Each socket takes a ticket of its own, so after an expired one the next has a new ticket.
    if (isFirst && (code === RESTARTING || code === EXPIRED)) connect();
  }

  function stop(error?: Error) {
    drop();
    set('closed', error && { error });
  }

  function lost(error?: unknown, leastMs = 0, isOffline = false) {
    if (!isOpen) return;
    const name = link ? 'stalled' : 'offline';
    drop();
    if (error instanceof Error && !isTemporary(error)) return stop(error);
    lostAt ||= env.now();
    const longest = backOff(env.now() - lostAt, FIRST_DELAY_MS, LONGEST_DELAY_MS);
    const delayMs = leastMs + longest * (0.5 + env.random() / 2);
    set(isOffline ? 'offline' : name, {
      retryAt: env.now() + delayMs,
      ...(error instanceof SmartspaceError && error.status > 0 && { error }),
    });
    // Nothing shortens a wait that the server asked for.
    after(leastMs > 0 ? 'wait' : 'retry', delayMs, connect);
  }

  function drop() {
    attempt += 1;
    timers.stop();
    queued.clear();
    close(link);
    close(next);
    link = next = null;
  }

  function close(old: Link | null) {
    if (!old) return;
    old.socket.onopen = old.socket.onmessage = old.socket.onclose = null;
    old.socket.close();
  }

  function subscribe(over: Link | null, spaceId: string) {
    const wanted = followers.get(spaceId);
    if (over?.socket.readyState !== 1 || !wanted || (over !== link && over !== next)) return;
    const afterSeq = seqOf(wanted);
    over.unconfirmed.add(spaceId);
    // The answer can be lost.
    after(`subscribe ${spaceId}`, SUBSCRIBE_LIMIT_MS, () => subscribe(over, spaceId));
    write(over, {
      action: 'subscribe',
      id: `subscribe ${spaceId}${isCounted ? ' counted' : ''}`,
      spaceId,
      ...(afterSeq < Infinity && { afterSeq }),
      ...count(),
    });
  }

  // The server takes a few subscriptions at once, and then two a second.
  function subscribeLater(spaceId: string, delayMs = 0) {
    queued.add(spaceId);
    if (delayMs > 0 || !timers.has('queue')) after('queue', delayMs, subscribeNext);
  }

  function subscribeNext() {
    const [spaceId] = queued;
    if (spaceId === undefined) return;
    queued.delete(spaceId);
    subscribe(next?.socket.readyState === 1 ? next : link, spaceId);
    after('queue', QUEUE_MS, subscribeNext);
  }

  const isEager = (set: Set<Follower> | undefined) => [...(set ?? [])].some(({ lazy }) => !lazy);

  const seqOf = (set: Set<Follower>) => Math.min(...[...set].map((each) => each.afterSeq()));

  const count = () => (isCounted ? { n: (lastN += 1) } : {});

  const pingDelay = () => (env.isHidden() ? HIDDEN_PING_MS : PING_MS);

  function ping() {
    if (link?.socket.readyState !== 1) return;
    const seqs = [...followers]
      .map(([spaceId, set]) => [spaceId, seqOf(set)] as const)
      .filter(([, seq]) => seq < Infinity);
    for (let from = 0; from === 0 || from < seqs.length; from += MOST_PINGED)
      write(link, {
        action: 'ping',
        spaces: Object.fromEntries(seqs.slice(from, from + MOST_PINGED)),
      });
    if (!timers.has('pong')) {
      after('stall', STALL_MS, () => set('stalled'));
      after('pong', PONG_LIMIT_MS, () => lost());
    }
    after('ping', pingDelay(), ping);
    tick();
  }

  const tick = () => followers.forEach((set) => set.forEach((each) => each.tick?.()));

  function check() {
    if (!isOpen) return;
    if (link && !timers.has('pong')) ping();
    else if (timers.has('retry') || state.state === 'closed') {
      if (state.state === 'closed') set('connecting');
      connect();
    }
  }

  function write(over: Link | null, frame: object) {
    if (over?.socket.readyState === 1) over.socket.send(JSON.stringify(frame));
  }

  return {
    store,
    retain,
    follow(follower) {
      const { spaceId, lazy } = follower;
      const set = followers.get(spaceId) ?? new Set();
      followers.set(spaceId, set.add(follower));
      const release = retain();
      if (!lazy) for (const each of [link, next]) subscribe(each, spaceId);
      if (lazy && link) subscribeLater(spaceId);
      return () => {
        set.delete(follower);
        if (set.size === 0 && followers.delete(spaceId)) {
          for (const each of [link, next]) {
            write(each, { action: 'unsubscribe', spaceId, ...count() });
            if (each) confirmed(each, spaceId);
          }
        }
        release();
      };
    },
    onFrame(heard) {
      listeners.add(heard);
      return () => void listeners.delete(heard);
    },
    send: (frame) => write(link, frame),
    check,
    called(isAnswered) {
      // The server is back, or is perhaps gone.
      if (isAnswered ? timers.has('retry') && !state.error : link) check();
    },
    close(error) {
      if (isEnded) return;
      isOpen = false;
      isEnded = true;
      stop(error);
    },
  };
}
