// The loaded messages of a space by seq, and which messages are missing.

import type { Mutable } from '../store.ts';
import type { Message, SystemLine } from '../types.ts';
import { newest, withReactions, type Reactions } from './message_states.ts';

/** All messages from `floor` on. Older messages are not loaded yet. */
export interface History {
  /** The lowest seq that is loaded or expected. */
  readonly floor: number;
  /** The loaded messages, by seq. */
  readonly messages: readonly Message[];
  /** The loaded lines between them, in their order. */
  readonly lines: readonly SystemLine[];
  /** The highest seq that the space is known to have. */
  readonly lastKnown: number;
  /** Grows when the loaded messages are given up. A page for an earlier epoch does not fit. */
  readonly epoch: number;
  /** The epoch in which an older page is being loaded, or null. */
  readonly loadingEpoch: number | null;
  /** The first message of the space is loaded. */
  readonly isComplete: boolean;
  /** After a jump, until the last page is loaded. */
  readonly isBehind: boolean;
  /** The newest known reactions, by seq: a frame may come before its message. */
  readonly reactions: ReadonlyMap<number, Reactions>;
}

type Draft = Mutable<History>;

export const NO_HISTORY: History = {
  floor: 1,
  messages: [],
  lines: [],
  lastKnown: 0,
  epoch: 0,
  loadingEpoch: null,
  isComplete: false,
  isBehind: false,
  reactions: new Map(),
};

/** The loaded message with this seq. Mostly they have no gaps. */
export function messageAt({ messages }: History, seq: number): Message | undefined {
  const guess = messages[seq - (messages[0]?.seq ?? 0)];
  return guess?.seq === seq ? guess : messages.find((each) => each.seq === seq);
}

/** The highest loaded seq. Without messages it is one below the floor. */
export const lastSeq = (history: History) => history.messages.at(-1)?.seq ?? history.floor - 1;

export const hasOlder = (history: History) => history.floor > 1 && !history.isComplete;

export const isLoadingOlder = (history: History) => history.epoch === history.loadingEpoch;

/** `seq` is the last seq of the space. Nothing is loaded. */
export function beginAfter(draft: Draft, seq: number) {
  draft.floor = seq + 1;
  draft.messages = [];
  draft.lines = [];
  draft.lastKnown = seq;
  draft.epoch += 1;
}

/** Starts the history after `seq`, or before the messages that are loaded already. */
export function startAfter(draft: Draft, seq: number) {
  const { messages } = draft;
  // What this client has sent may be loaded already, and must not vanish.
  beginAfter(draft, Math.min(seq, (messages[0]?.seq ?? Infinity) - 1));
  putMessages(draft, messages);
}

/**
 * Adds states of messages. The state with the higher `rev` wins. Messages below the floor are
 * ignored.
 */
export function putMessages(draft: Draft, page: readonly Message[]) {
  const messages = new Map(draft.messages.map((each) => [each.seq, each]));
  for (const message of page) {
    const { seq } = message;
    if (seq < draft.floor) continue;
    putSeq(draft, seq);
    const known = withReactions(message, draft.reactions.get(seq));
    messages.set(seq, newest(messages.get(seq), known));
  }
  draft.messages = [...messages.values()].sort((one, other) => one.seq - other.seq);
}

/** Adds lines between messages, also those that are known already. */
export function putLines(draft: Draft, lines: readonly SystemLine[]) {
  if (lines.length === 0) return;
  const all = new Map([...draft.lines, ...lines].map((each) => [each.id, each]));
  draft.lines = [...all.values()].sort(
    (one, other) => one.afterSeq - other.afterSeq || (one.id < other.id ? -1 : 1),
  );
}

/** Adds the page that ends below the floor. */
export function putOlderPage(draft: Draft, page: readonly Message[]) {
  draft.floor = Math.min(draft.floor, ...page.map((each) => each.seq));
  putMessages(draft, page);
}

/** Records that the space has a message with this seq. */
export function putSeq(draft: Draft, seq: number) {
  draft.lastKnown = Math.max(draft.lastKnown, seq);
}

/** The seq before the first missing message, or null if none is missing. */
export function gapOf(history: History): number | null {
  let expected = history.floor;
  for (const { seq } of history.messages) {
    if (seq !== expected) break;
    expected += 1;
  }
  return expected <= history.lastKnown ? expected - 1 : null;
}

/**
 * The messages that will still change: the dispatch is not decided, a form is open, or the text is
 * truncated.
 */
export const unfinished = ({ messages }: History) =>
  messages.filter(
    (message) => message.truncated || isUndecided(message) || openParts(message).length > 0,
  );

/** The open forms among the parts of a message. */
export const openParts = (message: Message) =>
  message.parts.flatMap((part) =>
    part.type === 'tool' && part.status === 'pending' && message.runId ? part : [],
  );

// A card is the first part of its message, and wakes nobody. Nor does a tombstone.
const isUndecided = ({ dispatch, parts, deleted }: Message) =>
  !dispatch && !deleted && parts[0]?.type !== 'tool';
