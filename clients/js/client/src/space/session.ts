// How a space is opened, loaded, followed and left.

import type { SmartspaceError } from '../errors.ts';
import { emit, isFollowed, start, type Draft } from './effects.ts';
import type { StateEvent } from './event.ts';
import { startedAt, withOlderPage } from './history.ts';
import { loadInfo, putRead, putSpace, readSeqOf } from './info.ts';
import { addMessages, loadLast, noteSeq } from './loading.ts';
import { restore } from './outbox.ts';
import { meId } from './state.ts';
import { markEnding } from './streams.ts';
import { checkSilence } from './writing.ts';

type Of<T extends StateEvent['type']> = StateEvent & { type: T };

export function opened(draft: Draft) {
  const { isLoaded, presence, runs, streams } = draft;
  draft.session += 1;
  draft.isOpen = true;
  if (!isLoaded) Object.assign(draft, { isLoading: true, error: null, isGone: false });
  emit(draft, { type: 'hold' });
  if (draft.history.isBehind) loadLast(draft);
  // The timers that would have ended these were stopped.
  draft.runs = { ...runs, settling: new Set() };
  draft.streams = markEnding(streams, [...streams.open.values()], false);
  draft.presence = { ...presence, now: draft.now };
  checkSilence(draft);
  start(draft, { job: 'load', session: draft.session });
}

export function left(draft: Draft) {
  draft.session += 1;
  draft.isOpen = false;
  stopIfUnfollowed(draft);
  emit(draft, { type: 'release' });
}

export function watched(draft: Draft, { isWatched }: Of<'watched'>) {
  draft.isWatched = isWatched;
  stopIfUnfollowed(draft);
}

function stopIfUnfollowed(draft: Draft) {
  if (!isFollowed(draft)) emit(draft, { type: 'stopTimers' });
}

/** The settings and the last page of messages have come. */
export function loaded(draft: Draft, event: Of<'loaded'>) {
  // The space was left and opened again meanwhile, and that load was faster.
  if (draft.isLoaded) return;
  const { isFirst, floor, space, page, prefix, restored } = event;
  if (isFirst) {
    // The list of spaces may have brought the space meanwhile.
    draft.history = startedAt(draft.history, (page[0]?.seq ?? 1) - 1);
    putSpace(draft, space);
  }
  // After a jump the page is too old.
  if (isFirst || draft.history.floor <= floor) draft.history = withOlderPage(draft.history, page);
  noteSeq(draft, space);
  Object.assign(draft, { isLoaded: true, isLoading: false, error: null, isGone: false });
  // Before the messages are shown: one of them may be a send that an earlier page left.
  restore(draft, prefix, restored);
  addMessages(draft, event);
}

export function loadFailed(draft: Draft, { error, isRetried }: Of<'loadFailed'>) {
  const isGone = (error as Partial<SmartspaceError>).status === 404;
  Object.assign(draft, { isLoading: isRetried, error, isGone });
}

/** The space is loaded, and its live events follow. */
export function entered(draft: Draft) {
  // A message that arrives while the space is open is no reason for an unread line.
  const readSeq = readSeqOf(draft, meId(draft)) ?? Infinity;
  draft.unreadAfter = readSeq < draft.history.lastKnown ? readSeq : Infinity;
  emit(draft, { type: 'follow' });
}

/** The list of spaces has this space. */
export function listed(draft: Draft, { space }: Of<'listed'>) {
  const known = draft.space;
  if (!known || draft.isGone) {
    // The last message comes with the subscription.
    if (!known) draft.history = startedAt(draft.history, Math.max(0, space.seq - 1));
    draft.isGone = false;
    putSpace(draft, space);
    // An event that came meanwhile may be newer than the list.
  } else if (space.name !== known.name) loadInfo(draft);
  putRead(draft, meId(draft), space.me?.readSeq ?? 0);
  noteSeq(draft, space);
}
