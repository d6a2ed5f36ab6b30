// Messages that are shown outside of the timeline: those of open threads, the pinned ones, and the
// parents of replies. They may be older than the loaded history.

import type { Mutable } from '../store.ts';
import type { Message, Parent, Pin } from '../types.ts';
import { messageAt, type History } from './history.ts';
import { newest, parentOf, withReactions } from './message_states.ts';

/** A pinned message, by its seq. */
export type PinnedSeq = Omit<Pin, 'message'> & { seq: number };

/** A thread that somebody shows, or the pins. */
export interface OpenThread {
  readonly isLoading: boolean;
  readonly error: Error | null;
  /** Only the pins have them. */
  readonly pins?: readonly PinnedSeq[];
}

/** The pins, among the threads. */
export const PINS = -1;

/** A parent. `rev` is 0 if a page brought it. It is null until it is loaded. */
export interface KnownParent {
  readonly parent: Parent | null;
  readonly rev: number;
}

/** What is known of messages that are shown outside of the timeline. */
export interface Elsewhere {
  /** By the seqs of their first messages. */
  readonly threads: ReadonlyMap<number, OpenThread>;
  /** The messages of open threads and the pinned ones, by seq. */
  readonly elsewhere: ReadonlyMap<number, Message>;
  /** The parents of loaded replies, by seq. */
  readonly parents: ReadonlyMap<number, KnownParent>;
}

type Draft = Mutable<Elsewhere & History>;

export const NOTHING_ELSEWHERE: Elsewhere = {
  threads: new Map(),
  elsewhere: new Map(),
  parents: new Map(),
};

/** Whether a message belongs to the thread that begins with this seq. */
export const isInThread = (message: Message, first: number) =>
  message.seq === first || message.thread === first;

// Whether an open thread or the pins show a message.
const isShown = ({ threads }: Elsewhere, message: Message) =>
  threads.has(message.seq) ||
  threads.has(message.thread ?? 0) ||
  !!threads.get(PINS)?.pins?.some((each) => each.seq === message.seq);

/** Adds states of messages, as far as they are shown outside of the timeline. */
export function putElsewhere(draft: Draft, page: readonly Message[]) {
  for (const message of page) {
    const { seq, rev } = message;
    const known = draft.elsewhere.get(seq);
    if (known || isShown(draft, message)) {
      const next = newest(known, withReactions(message, draft.reactions.get(seq)));
      if (next !== known) draft.elsewhere = new Map(draft.elsewhere).set(seq, next);
    }
    const parent = draft.parents.get(seq);
    if (parent && (message.deleted || (rev > parent.rev && !parent.parent?.deleted)))
      draft.parents = new Map(draft.parents).set(seq, { parent: parentOf(message), rev });
  }
}

/** Adds the parents that came with a page. What a frame said of them is newer. */
export function putParents(draft: Draft, parents: readonly Parent[] = []) {
  const known = new Map(draft.parents);
  for (const parent of parents) {
    const before = known.get(parent.seq);
    if (!before?.rev && !before?.parent?.deleted) known.set(parent.seq, { parent, rev: 0 });
  }
  draft.parents = known;
}

/** Events may have been lost: what the server says next is newer than what is known. */
export function distrustParents(draft: Draft) {
  draft.parents = new Map(
    [...draft.parents].flatMap(([seq, { parent }]) =>
      // A job that did not end is forgotten, so that another one begins.
      parent ? [[seq, { parent, rev: 0 }] as const] : [],
    ),
  );
}

/** The message with this seq, if it is known. */
export const messageIn = (known: Elsewhere & History, seq: number) =>
  messageAt(known, seq) ?? known.elsewhere.get(seq);

/** The parent of a reply, as far as it is known. */
export function parentIn(known: Elsewhere & History, seq: number): Parent | undefined {
  const message = messageIn(known, seq);
  return message ? parentOf(message) : (known.parents.get(seq)?.parent ?? undefined);
}

/** Gives up the messages that nothing shows. */
export function forgetUnshown(draft: Draft) {
  draft.elsewhere = new Map([...draft.elsewhere].filter(([, message]) => isShown(draft, message)));
}

/** Whether nothing shows a message but, perhaps, a reply to it. */
export const isUnshown = (known: Elsewhere & History, message: Message) =>
  message.seq < known.floor && !isShown(known, message);
