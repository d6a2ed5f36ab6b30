// The changes when a space is opened, loaded, followed, listed and left.

import type { SmartspaceError } from '../errors.ts';
import type { Caller, SpaceInfo } from '../types.ts';
import { AFTER_ALL } from '../limits.ts';
import { emit, isFollowed, patch, type Draft } from './effects.ts';
import { putOlderPage, startAfter } from './history.ts';
import { loadInfo, putSpace } from './members.ts';
import { addPage, loadLast, noteSeq, type MessagePage } from './loading.ts';
import { markEnding } from './streams.ts';
import { checkSilence } from './stream_lifetime.ts';
import { loadParents } from './threads.ts';
import { markUnread, putCounts } from './unread.ts';

/** What the first calls for a space have brought. */
export interface Loaded {
  /** The floor of the messages when the calls were made; `AFTER_ALL` if nothing was known. */
  floor: number;
  space: SpaceInfo;
  page: MessagePage;
}

export function opened(draft: Draft) {
  draft.session += 1;
  draft.isOpen = true;
  if (!draft.isLoaded) patch(draft, { isLoading: true, error: null, isGone: false });
  if (draft.isBehind) loadLast(draft);
  // The timers that would have ended these were stopped.
  draft.justEnded = new Set();
  markEnding(draft, draft.streams.values(), false);
  draft.presence = { ...draft.presence, now: draft.now };
  checkSilence(draft);
  emit(draft, 'job', 'load', draft.session);
}

export function left(draft: Draft) {
  draft.session += 1;
  draft.isOpen = draft.isFollowing = false;
  draft.unreadAfter = Infinity;
  stopIfUnfollowed(draft);
  emit(draft, 'unfollow');
}

export function watched(draft: Draft, isWatched: boolean) {
  draft.isWatched = isWatched;
  stopIfUnfollowed(draft);
}

function stopIfUnfollowed(draft: Draft) {
  if (!isFollowed(draft)) emit(draft, 'stopTimers');
}

/** The settings and the last page of messages have come. */
export function loaded(draft: Draft, found: Loaded) {
  // The space was left and opened again meanwhile, and that load was faster.
  if (draft.isLoaded) return;
  const { floor, space, page } = found;
  if (floor === AFTER_ALL) {
    // The list of spaces may have brought the space meanwhile.
    startAfter(draft, (page.items[0]?.seq ?? 1) - 1);
    putSpace(draft, space);
  }
  // From now on a message may be that of a send from before the load.
  draft.sends = draft.sends.map((send) => ({
    ...send,
    afterSeq: Math.min(send.afterSeq, space.seq),
  }));
  // After a jump the page is too old.
  if (draft.floor <= floor) putOlderPage(draft, page.items);
  putCounts(draft, space);
  noteSeq(draft, space.seq);
  patch(draft, { isLoaded: true, isLoading: false, error: null, isGone: false });
  addPage(draft, page);
}

export function loadFailed(draft: Draft, error: Error, isRetried: boolean) {
  const isGone = (error as Partial<SmartspaceError>).status === 404;
  patch(draft, { isLoading: isRetried, error, isGone });
}

/** The space is loaded, and its live events follow. */
export function entered(draft: Draft) {
  markUnread(draft);
  draft.isFollowing = true;
  loadParents(draft);
  emit(draft, 'follow');
}

/** The list of spaces has this space. */
export function applyListing(draft: Draft, space: SpaceInfo, caller: Caller | null) {
  draft.caller = caller;
  const known = draft.space;
  if (!known || draft.isGone) {
    // The last message comes with the subscription.
    if (!known) startAfter(draft, Math.max(0, space.seq - 1));
    draft.isGone = false;
    putSpace(draft, space);
    // An event that came meanwhile may be newer than the list.
  } else if (space.name !== known.name) loadInfo(draft);
  putCounts(draft, space);
  noteSeq(draft, space.seq);
}
