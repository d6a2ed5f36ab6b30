// The state of one space: one immutable value, which only the reducer replaces. It is flat, so that
// a change names what it replaces.

import type { Caller, Form, LastMessage, Message, PendingSend, SpaceInfo } from '../types.ts';
import { NOTHING_ELSEWHERE, type Elsewhere } from './elsewhere.ts';
import { NO_HISTORY, type History } from './history.ts';
import type { Unconfirmed } from './optimistic.ts';
import { NO_PRESENCE, type Presence } from './presence.ts';
import { NO_RUNS, type Runs } from './runs.ts';
import { NO_STREAMS, type Streams } from './streams.ts';

/** How many tool cards a space has up to a message. */
export interface CardCount {
  readonly seq: number;
  readonly cards: number;
}

export const NO_CARDS: CardCount = { seq: 0, cards: 0 };

/** All that is known of a space. */
export interface State extends History, Elsewhere, Runs, Streams {
  readonly id: string;
  /** Null until it is known. */
  readonly caller: Caller | null;
  /** Others may see that the caller has the space open. */
  readonly isPresent: boolean;

  /** Somebody shows the space. */
  readonly isOpen: boolean;
  /** The space is loaded and follows its events itself. */
  readonly isFollowing: boolean;
  /** The list of spaces follows the space. */
  readonly isWatched: boolean;
  /** Changes when the space is opened or left. Work for an earlier session has no effect. */
  readonly session: number;
  /** The settings and the last page of messages were loaded once. */
  readonly isLoaded: boolean;
  readonly isLoading: boolean;
  readonly error: Error | null;
  /** The space was deleted, or the caller is not a member any longer. */
  readonly isGone: boolean;

  /** Events may have missed edits, deletions or reactions. */
  readonly isOutdated: boolean;
  /** What the person changed about messages and the server has not confirmed yet. */
  readonly unconfirmed: Unconfirmed;

  /** The settings and members. Null until they are loaded. */
  readonly space: SpaceInfo | null;
  /** The names of entities, also of those that have left. */
  readonly names: ReadonlyMap<string, string>;
  /** When the newest event about the settings and members happened. */
  readonly infoAt: string;
  /** How many calls asked for the settings. */
  readonly infoAsked: number;
  /** The last message that was read when the space was opened. Infinity: no unread line. */
  readonly unreadAfter: number;
  /** The read position that the server has not confirmed yet, or 0. */
  readonly unsentRead: number;
  /** The newest count of tool cards that the server has given. */
  readonly counted: CardCount;
  /** The caller's read position, or the operator's mark, with the tool cards up to it. */
  readonly read: CardCount;
  /** The last message, as the list of spaces or an event has it. */
  readonly listed: LastMessage | null;

  readonly presence: Presence;
  /**
   * Forms by their calls, from events and from pages that are older than the history. Null: the
   * form was closed, and an older frame or answer must not open it again.
   */
  readonly forms: ReadonlyMap<string, Form | null>;

  /** When the person last typed, and when the others were last informed; 0 after a stop. */
  readonly typedAt: number;
  readonly typingSentAt: number;

  /** The messages of the person that are not stored yet, oldest first. */
  readonly sends: readonly PendingSend[];
  /** The sends in the storage are known. Nothing is posted before. */
  readonly isRestored: boolean;
  /** One send is with the server. The others wait, so that messages keep their order. */
  readonly isPosting: boolean;
  /** The server asked for a pause, which nothing shortens. */
  readonly mustWait: boolean;
  /** When the attempts to send began to fail, in milliseconds since 1970, or 0. */
  readonly failingSince: number;
  /** The messages that sends became, by the keys of the sends. */
  readonly claims: ReadonlyMap<string, Message>;
  /** The keys of sends, by the ids of messages that are shown in their place. */
  readonly keys: ReadonlyMap<string, string>;
}

/** A space of which nothing is known. */
export const initialState = (id: string, caller: Caller | null, isPresent: boolean): State => ({
  ...NO_HISTORY,
  ...NOTHING_ELSEWHERE,
  ...NO_RUNS,
  ...NO_STREAMS,
  id,
  caller,
  isPresent,
  isOpen: false,
  isFollowing: false,
  isWatched: false,
  session: 0,
  isLoaded: false,
  isLoading: true,
  error: null,
  isGone: false,
  isOutdated: false,
  unconfirmed: [],
  space: null,
  names: new Map(),
  infoAt: '',
  infoAsked: 0,
  unreadAfter: Infinity,
  unsentRead: 0,
  counted: NO_CARDS,
  read: NO_CARDS,
  listed: null,
  presence: NO_PRESENCE,
  forms: new Map(),
  typedAt: 0,
  typingSentAt: 0,
  sends: [],
  isRestored: false,
  isPosting: false,
  mustWait: false,
  failingSince: 0,
  claims: new Map(),
  keys: new Map(),
});

/** The id of the caller, if it is known and not the operator. */
export const meId = (state: State) => state.caller?.entity?.id;

/** Whether it is known where the messages begin. */
export const isKnown = (state: State) => state.isLoaded || !!state.space;

/**
 * The messages that a timeline shows. The list of spaces may know a few before the page of the
 * latest ones is loaded. Only those that this client has sent are shown before.
 */
export const shownMessages = ({ isLoading, messages, keys }: State) =>
  isLoading ? messages.filter((each) => keys.has(each.id)) : messages;

/** The name of an entity, also after it has left. */
export const nameOf = (state: State, entityId: string) => state.names.get(entityId) ?? 'Someone';
