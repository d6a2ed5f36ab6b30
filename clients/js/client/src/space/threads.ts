// The changes of threads, pins and the parents of replies.

import type { Pin } from '../types.ts';
import { without } from './collections.ts';
import { emit, type Draft } from './effects.ts';
import { forgetUnshown, isInThread, PINS, putElsewhere, type OpenThread } from './elsewhere.ts';

const LOADED = { isLoading: false, error: null };

/** Loads the parents of loaded replies that no page brought. */
export function loadParents(draft: Draft) {
  if (!draft.isOpen) return;
  for (const { replyTo } of draft.messages) {
    const seq = replyTo?.messageId ? replyTo.seq : Infinity;
    // A parent above the floor comes with the history.
    if (seq >= draft.floor || draft.parents.has(seq)) continue;
    draft.parents = new Map(draft.parents).set(seq, { parent: null, rev: 0 });
    emit(draft, 'job', 'parent', seq);
  }
}

/** Somebody shows a thread, or the pins. */
export function threadOpened(draft: Draft, first: number) {
  draft.threads = new Map(draft.threads).set(first, { isLoading: true, error: null });
  putElsewhere(
    draft,
    draft.messages.filter((each) => isInThread(each, first)),
  );
  loadThread(draft, first);
}

/** A thread is loaded, or it can't be. */
export function threadChanged(draft: Draft, first: number, more: Partial<OpenThread> = LOADED) {
  const open = draft.threads.get(first);
  if (open) draft.threads = new Map(draft.threads).set(first, { ...open, ...more });
}

/** The pins are loaded. */
export function pinsLoaded(draft: Draft, found: readonly Pin[]) {
  const pins = found.map(({ message, ...pin }) => ({ ...pin, seq: message.seq }));
  threadChanged(draft, PINS, { ...LOADED, pins });
  putElsewhere(
    draft,
    found.map((each) => each.message),
  );
  forgetUnshown(draft);
}

/** Nobody shows a thread any longer. */
export function threadLeft(draft: Draft, first: number) {
  draft.threads = without(draft.threads, first);
  forgetUnshown(draft);
}

/** Loads what is shown again: events may have been lost, or messages were given up. */
export function reloadElsewhere(draft: Draft) {
  for (const first of draft.threads.keys()) loadThread(draft, first);
}

/** Loads a thread, if somebody shows it. */
export function loadThread(draft: Draft, first: number) {
  if (draft.threads.has(first)) emit(draft, 'job', 'thread', first);
}
