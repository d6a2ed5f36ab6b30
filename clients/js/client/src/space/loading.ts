// Adds loaded or received messages and runs to a space, and asks for those that are missing.

import { LAST_MESSAGE_MS, GAP_DELAY_MS, LARGEST_GAP, CANCELLATION_MS } from '../limits.ts';
import type { Message, Run, SpaceInfo } from '../types.ts';
import { emit, patch, type Draft } from './effects.ts';
import { beginAfter, gapOf, lastSeq, putMessages, putOlderPage, putSeq } from './history.ts';
import { putName, putRead, putSpace } from './members.ts';
import { hasEnded, putRuns } from './runs.ts';
import { isKnown, meId } from './state.ts';
import { closeStreams } from './streams.ts';
import { endStreams } from './stream_lifetime.ts';

/** Adds messages, as a page or an event brings them. */
export function addMessages(draft: Draft, page: readonly Message[]) {
  const newest = page.at(-1)?.seq ?? 0;
  jumpIfFar(draft, newest, newest - 1);
  const me = meId(draft);
  for (const { sender, seq } of page) {
    putName(draft, sender);
    // Posting marks one's own message as read, and no `space.read` follows.
    if (sender.id === me) putRead(draft, me, seq);
  }
  closeStreams(
    draft,
    page.flatMap((each) => each.streamId ?? []),
  );
  putMessages(draft, page);
  fillLater(draft);
}

/** Adds a message as an event brings it. Its text may have been cut. */
export function addMessage(draft: Draft, { message }: { message: Message }) {
  // A cut text could be shorter than the streamed text, so the whole message is fetched first.
  if (message.truncated) emit(draft, 'job', 'fullMessage', message);
  else addMessages(draft, [message]);
}

/** Adds the page of messages before the oldest loaded one. */
export function olderPageLoaded(draft: Draft, epoch: number, page: readonly Message[]) {
  // After a jump the page is not next to what is loaded now.
  if (epoch !== draft.epoch) return;
  putOlderPage(draft, page);
  addMessages(draft, page);
  patch(draft, { isComplete: page.length === 0, isBehind: false });
}

/** The space has messages up to this one. */
export function noteSeq(draft: Draft, seq: number) {
  jumpIfFar(draft, seq, seq);
  putSeq(draft, seq);
  fillLater(draft);
}

/** Takes over the settings and members as HTTP says them. */
export function spaceLoaded(draft: Draft, space: SpaceInfo) {
  putSpace(draft, space);
  noteSeq(draft, space.seq);
}

// Thousands of missed messages are not fetched one by one: the history begins again at its end.
function jumpIfFar(draft: Draft, seq: number, after: number) {
  if (!isKnown(draft) || seq - lastSeq(draft) <= LARGEST_GAP) return;
  beginAfter(draft, after);
  patch(draft, { isComplete: false, isBehind: true });
  loadLast(draft);
}

/** Loads the last page after a jump. */
export const loadLast = (draft: Draft) => emit(draft, 'jobLater', 'latestPage', 0);

function fillLater(draft: Draft) {
  if (isKnown(draft) && gapOf(draft) !== null)
    emit(draft, 'jobLater', 'fillGap', GAP_DELAY_MS, '', true);
}

/** Adds a state of a run. `position` is that in the queue, from 1. */
export function addRun(draft: Draft, run: Run, position?: number) {
  const { id } = run;
  putRuns(draft, [run], position);
  if (!hasEnded(draft, id)) return;
  draft.justEnded = new Set([...draft.justEnded, id]);
  emit(draft, 'later', 'forgetEnded', LAST_MESSAGE_MS, id);
  const delayMs = run.status === 'canceled' ? CANCELLATION_MS : undefined;
  endStreams(draft, (each) => each.about.runId === id, delayMs);
}

/** The time for the last message of an ended run is over. */
export function forgetEnded(draft: Draft, runId: string) {
  const justEnded = new Set(draft.justEnded);
  justEnded.delete(runId);
  draft.justEnded = justEnded;
}
