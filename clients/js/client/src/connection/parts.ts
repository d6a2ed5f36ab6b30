// The data of the connection, which its modules share: its sockets, followers and state.

import type { Environment } from '../environment.ts';
import type { Goodbye, ServerFrame } from '../frames.ts';
import type { Call } from '../http.ts';
import { same, type OwnStore } from '../store.ts';
import type { Timers } from '../timers.ts';
import type { ConnectionState } from '../types.ts';

/** The states of the connection: see transitions.ts. */
export type StateName =
  'idle' | 'connecting' | 'live' | 'moving' | 'waiting' | 'delayed' | 'refused' | 'ended';

/** What may change the state. */
export type EventType =
  /** The first holder came, the last one has left, the client was closed. */
  | 'hold'
  | 'release'
  | 'end'
  /** A new socket follows all spaces that somebody looks at, or was not ready in time. */
  | 'ready'
  | 'failed'
  /** The present socket is lost, or the server asked for a pause, or for no further attempt. */
  | 'lost'
  | 'postponed'
  | 'rejected'
  /** What the platform and other calls say of the network. */
  | 'offline'
  | 'online'
  | 'check'
  | 'answered'
  | 'unanswered'
  /** The timers of the next attempt, and of the next socket. */
  | 'retry'
  | 'move';

/** An event of the connection, with the reason if there is one. */
export interface ConnectionEvent {
  type: EventType;
  error?: Error | undefined;
  goodbye?: Goodbye;
}

/** One socket, from the moment its ticket is asked for. During a roll-over there are two. */
export interface Link {
  socket?: WebSocket;
  /** The spaces whose subscription is not confirmed yet. */
  readonly unconfirmed: Set<string>;
  /** Spaces to subscribe to, one after the other. */
  readonly queued: Set<string>;
  /** They end with the link. */
  readonly timers: Timers;
}

/** A part of the client that follows a space: the space itself, the list of spaces, or a run. */
export interface Follower {
  spaceId: string;
  /** Subscribes when the others have. The connection is live without it. */
  lazy?: boolean;
  /** The seq after which messages are wanted; Infinity if none are. */
  afterSeq(): number;
  /** Gets the events of the space and the answers that concern it. */
  receive(frame: ServerFrame): void;
  /** Whether others may see that the caller has the space open. */
  present?(): boolean;
  /** Called now and then while connected. */
  tick?(): void;
}

/** The data of one connection. */
export interface ConnectionParts {
  readonly env: Environment;
  readonly call: Call;
  readonly timers: Timers;
  readonly store: OwnStore<ConnectionState>;
  readonly followers: Map<string, Set<Follower>>;
  readonly listeners: Set<(frame: ServerFrame) => void>;
  dispatch(type: EventType, reason?: Omit<ConnectionEvent, 'type'>): void;
  name: StateName;
  /** What the store shows. */
  shown: ConnectionState;
  /** The socket that is ready. */
  link: Link | null;
  /** The socket that takes its place once its subscriptions are confirmed. */
  next: Link | null;
  /** When the present outage began, in milliseconds since 1970, or 0. */
  lostAt: number;
  /** The number of the last frame about a subscription: an older one never undoes a newer one. */
  lastN: number;
}

/** Shows a state, which began earlier if it was shown before. */
export function show(
  parts: ConnectionParts,
  state: ConnectionState['state'],
  more?: Partial<ConnectionState>,
) {
  const { shown } = parts;
  const since = state === shown.state ? shown.since : parts.env.now();
  parts.shown = same<ConnectionState>(shown, { state, since, ...more });
  if (parts.shown !== shown) parts.store.changed();
}

/** Sends a frame if the socket is open. */
export function write(link: Link | null, frame: object) {
  if (isOpen(link)) link.socket?.send(JSON.stringify(frame));
}

export const isOpen = (link: Link | null): link is Link => link?.socket?.readyState === 1;

export const isEager = (set: Set<Follower> | undefined) =>
  [...(set ?? [])].some((each) => !each.lazy);

/** The seq after which messages are wanted. JSON leaves it out if none are. */
export function seqOf(set: Set<Follower>): number | undefined {
  const seq = Math.min(...[...set].map((each) => each.afterSeq()));
  if (seq < Infinity) return seq;
  return undefined;
}
