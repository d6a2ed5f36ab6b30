// The loaded messages of a space by seq, and which messages are missing. Pure.

import type { Message, Part } from '../types.ts';


/** All messages from `floor` on. Older messages are not loaded yet. */
export interface History {
  /** The lowest seq that is loaded or expected. */
  readonly floor: number;
  /** The loaded messages, by seq. */
  readonly list: readonly Message[];
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
}

/** `seq` is the last seq of the space. Nothing is loaded yet. */
export const historyFrom = (seq: number, epoch: number): History => ({
  floor: seq + 1,
  list: [],
  lastKnown: seq,
  epoch,
  loadingEpoch: null,
  isComplete: false,
  isBehind: false,
});

/** The highest loaded seq. Without messages it is one below the floor. */
export const lastSeq = ({ list, floor }: History) => list.at(-1)?.seq ?? floor - 1;

export const hasOlder = ({ floor, isComplete }: History) => floor > 1 && !isComplete;

export const isLoadingOlder = ({ epoch, loadingEpoch }: History) => epoch === loadingEpoch;

/**
 * Adds states of messages. The state with the higher `rev` wins. Messages below the floor are
 * ignored.
 */
export function withMessages(history: History, page: readonly Message[]): History {
  const { floor } = history;
  const list = [...history.list];
  let { lastKnown } = history;
  for (const message of page) {
    const { seq, rev } = message;
    if (seq < floor) continue;
    lastKnown = Math.max(lastKnown, seq);
    const at = placeOf(list, seq);
    const current = list[at]?.seq === seq ? list[at] : undefined;
    // A message with the same `rev` is the same one, unless a frame has cut what is loaded.
    if (current && (current.rev > rev || (current.rev === rev && !current.truncated))) continue;
    list.splice(at, current ? 1 : 0, message);
  }
  return { ...history, list, lastKnown };
}

// The first index whose message has this seq or a higher one. Most messages are new, so the search
// begins at the end.
function placeOf(list: readonly Message[], seq: number) {
  let at = list.length;
  while (at > 0 && (list[at - 1] as Message).seq >= seq) at -= 1;
  return at;
}

/** Adds the page that ends below the floor. */
export const withOlderPage = (history: History, page: readonly Message[]) =>
  withMessages({ ...history, floor: Math.min(history.floor, ...seqsOf(page)) }, page);

const seqsOf = (page: readonly Message[]) => page.map(({ seq }) => seq);

/** Nothing up to `seq` is loaded, except what is loaded now. */
export function startedAt(history: History, seq: number): History {
  const { list, epoch, isComplete, isBehind } = history;
  // What this client has sent may be loaded already, and must not vanish.
  const start = historyFrom(Math.min(seq, (list[0]?.seq ?? Infinity) - 1), epoch + 1);
  return { ...withMessages(start, list), isComplete, isBehind };
}

/** Records that the space has a message with this seq. */
export const withSeq = (history: History, seq: number): History =>
  seq > history.lastKnown ? { ...history, lastKnown: seq } : history;

/** The seq before the first missing message, or null if none is missing. */
export function gapOf({ floor, list, lastKnown }: History): number | null {
  let expected = floor;
  for (const { seq } of list) {
    if (seq !== expected) break;
    expected += 1;
  }
  return expected <= lastKnown ? expected - 1 : null;
}

/**
 * The messages that will still change: the dispatch is not decided, a form is open, or the text is
 * truncated.
 */
export const unfinished = ({ list }: History) =>
  list.filter(
    (message) => message.truncated || isUndecided(message) || openParts(message).length > 0,
  );

/** The open forms among the parts of a message. */
export const openParts = (message: Message) =>
  message.parts.flatMap((part) =>
    part.type === 'tool' && part.status === 'pending' && message.runId ? [part] : [],
  );

const isUndecided = ({ dispatch, parts }: Message) =>
  !dispatch && (hasPart(parts, 'text') || !hasPart(parts, 'tool'));

const hasPart = (parts: Message['parts'], type: Part['type']) =>
  parts.some((part) => part.type === type);
