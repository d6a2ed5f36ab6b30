// What the arrival of messages and runs changes in a space, and what is fetched next.

import { ENDED_MS, GAP_DELAY_MS, LARGEST_GAP, STOPPED_SETTLE_MS } from '../limits.ts';
import type { Message, Run } from '../types.ts';
import { emit, emitIfFollowed, type Draft } from './effects.ts';
import {
  gapOf,
  historyFrom,
  lastSeq,
  withMessages,
  withOlderPage,
  withSeq,
  type History,
} from './history.ts';
import { putName, putRead } from './info.ts';
import { hasEnded, withRuns } from './runs.ts';
import { isKnown, meId } from './state.ts';
import { closeStreams } from './streams.ts';
import { settle } from './writing.ts';


/** Adds messages, as a page or an event brings them. */
export function addMessages(draft: Draft, page: readonly Message[]) {
  const newest = page.at(-1)?.seq ?? 0;
  if (isTooFar(draft, newest)) jumpTo(draft, newest - 1);
  const me = meId(draft);
  for (const { sender, seq } of page) {
    putName(draft, sender);
    // Posting marks one's own message as read, and no `space.read` follows.
    if (sender.id === me) putRead(draft, me, seq);
  }
  const replaced = page.flatMap(({ streamId }) => streamId ?? []);
  draft.streams = closeStreams(draft.streams, replaced);
  putHistory(draft, withMessages(draft.history, page));
}

/** Adds a message as an event brings it. Its text may have been cut. */
export function addMessage(draft: Draft, { message }: { message: Message }) {
  // A cut text could be shorter than the streamed text, so the whole message is fetched first.
  if (message.truncated) emit(draft, 'job', 'whole', message);
  else addMessages(draft, [message]);
}

/** Adds the page of messages before the oldest loaded one. */
export function addOlderPage(draft: Draft, epoch: number, page: readonly Message[]) {
  const { history } = draft;
  // After a jump the page is not next to what is loaded now.
  if (epoch !== history.epoch) return;
  draft.history = { ...withOlderPage(history, page), isComplete: page.length === 0 };
  addMessages(draft, page);
  draft.history = { ...draft.history, isBehind: false };
}

/** The space has messages up to this one. */
export function noteSeq(draft: Draft, seq: number) {
  if (isTooFar(draft, seq)) jumpTo(draft, seq);
  putHistory(draft, withSeq(draft.history, seq));
}

const isTooFar = (draft: Draft, seq: number) =>
  isKnown(draft) && seq - lastSeq(draft.history) > LARGEST_GAP;

// Thousands of missed messages are not fetched one by one: the history begins again at its end.
function jumpTo(draft: Draft, seq: number) {
  draft.history = { ...historyFrom(seq, draft.history.epoch + 1), isBehind: true };
  loadLast(draft);
}

/** Loads the last page after a jump. */
export const loadLast = (draft: Draft) => emitIfFollowed(draft, 'jobLater', 'older', 0);

function putHistory(draft: Draft, history: History) {
  draft.history = history;
  if (isKnown(draft) && gapOf(history) !== null)
    emitIfFollowed(draft, 'jobLater', 'fill', GAP_DELAY_MS, '', true);
}

/** Adds a state of a run. `position` is that in the queue, from 1. */
export function addRun(draft: Draft, run: Run, position: number | null) {
  const { id, status } = run;
  const runs = (draft.runs = withRuns(draft.runs, [run], position));
  if (!hasEnded(runs, id)) return;
  draft.runs = { ...runs, settling: new Set(runs.settling).add(id) };
  emitIfFollowed(draft, 'later', `ended ${id}`, ENDED_MS, (next) => {
    const settling = new Set(next.runs.settling);
    settling.delete(id);
    next.runs = { ...next.runs, settling };
  });
  const delayMs = status === 'canceled' ? STOPPED_SETTLE_MS : undefined;
  settle(draft, ({ about }) => about.runId === id, delayMs);
}
