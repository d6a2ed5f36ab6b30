// Adds loaded or received messages and runs to a space, and asks for those that are missing.

import type { ReactionsEvent } from '../frames.ts';
import {
  CANCELLATION_MS,
  GAP_DELAY_MS,
  LARGEST_GAP,
  LAST_MESSAGE_MS,
  MOST_REMEMBERED,
} from '../limits.ts';
import type { Message, Parent, Run, SpaceInfo, SystemLine } from '../types.ts';
import { emit, patch, type Draft } from './effects.ts';
import { isUnshown, putElsewhere, putParents } from './elsewhere.ts';
import {
  beginAfter,
  gapOf,
  lastSeq,
  messageAt,
  putLines,
  putMessages,
  putOlderPage,
  putSeq,
} from './history.ts';
import { putName, putSpace } from './members.ts';
import { hasEnded, putRuns } from './runs.ts';
import { isKnown, meId } from './state.ts';
import { closeStreams } from './streams.ts';
import { endStreams } from './stream_lifetime.ts';
import { loadParents, reloadElsewhere } from './threads.ts';
import { putCounts, putOwnRead } from './unread.ts';

/** A page of messages, with those parents of its replies that are not on it. */
export interface MessagePage {
  items: readonly Message[];
  parents?: readonly Parent[];
  /** The lines between its messages. */
  lines?: readonly SystemLine[];
}

/** Adds messages, as a page or an event brings them. */
export function addMessages(draft: Draft, page: readonly Message[]) {
  const newest = page.at(-1)?.seq ?? 0;
  jumpIfFar(draft, newest, newest - 1);
  const me = meId(draft);
  for (const { sender, seq } of page) {
    putName(draft, sender);
    // Posting marks one's own message as read, and no `space.read` follows.
    if (sender.id === me) putOwnRead(draft, { seq });
  }
  closeStreams(
    draft,
    page.flatMap((each) => each.streamId ?? []),
  );
  putMessages(draft, page);
  putElsewhere(draft, page);
  unpinDeleted(draft, page);
  loadParents(draft);
  fillLater(draft);
}

/** Adds a page of messages, with the parents of its replies and the lines between them. */
export function addPage(draft: Draft, { items, parents, lines = [] }: MessagePage) {
  putParents(draft, parents);
  addMessages(draft, items);
  // After a jump they may be older than what is loaded.
  putLines(
    draft,
    lines.filter((line) => line.afterSeq >= draft.floor - 1),
  );
}

/** Adds a message as an event brings it. Its text may have been cut. */
export function addMessage(draft: Draft, { message }: { message: Message }) {
  // A cut text could be shorter than the streamed text, so the whole message is fetched first.
  if (message.truncated && !isUnshown(draft, message)) emit(draft, 'job', 'fullMessage', message);
  else addMessages(draft, [message]);
}

// A deleted message is unpinned, and no frame may say so before the message's own.
function unpinDeleted(draft: Draft, page: readonly Message[]) {
  const { space } = draft;
  const pins = space?.pins ?? [];
  const left = pins.filter((pin) => !page.some(({ seq, deleted }) => deleted && seq === pin));
  if (space && left.length < pins.length) draft.space = { ...space, pins: left };
}

/** Adds the page of messages before the oldest loaded one. */
export function olderPageLoaded(draft: Draft, epoch: number, page: MessagePage) {
  // After a jump the page is not next to what is loaded now.
  if (epoch !== draft.epoch) return;
  putOlderPage(draft, page.items);
  addPage(draft, page);
  patch(draft, { isComplete: page.items.length === 0, isBehind: false });
}

/** Adds the reactions to messages. A message may come after the frame of its reactions. */
export function putReactions(draft: Draft, items: ReactionsEvent['items']) {
  const reactions = new Map(draft.reactions);
  for (const { seq, reactionsRev, reactions: all } of items)
    if (reactionsRev > (reactions.get(seq)?.reactionsRev ?? 0)) {
      // Of very many, those that were added first are forgotten.
      reactions.delete(seq);
      reactions.set(seq, { reactions: all, reactionsRev });
    }
  draft.reactions = new Map([...reactions].slice(-MOST_REMEMBERED));
  putMessages(
    draft,
    items.flatMap(({ seq }) => messageAt(draft, seq) ?? []),
  );
  putElsewhere(
    draft,
    items.flatMap(({ seq }) => draft.elsewhere.get(seq) ?? []),
  );
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
  putCounts(draft, space);
  noteSeq(draft, space.seq);
}

// Thousands of missed messages are not fetched one by one: the history begins again at its end.
function jumpIfFar(draft: Draft, seq: number, after: number) {
  if (!isKnown(draft) || seq - lastSeq(draft) <= LARGEST_GAP) return;
  beginAfter(draft, after);
  patch(draft, { isComplete: false, isBehind: true });
  loadLast(draft);
  reloadElsewhere(draft);
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
  draft.justEnded = new Set([...draft.justEnded].filter((each) => each !== runId));
}
