// What frames of the WebSocket change in a space beyond one line. Frames may come late, twice, in
// another order or never.

import type { PresenceEvent, RunEvent, RunQueued, ServerFrame, Subscribed } from '../events.ts';
import { LONGEST_STALE_MS, STALE_MS, TYPING_MS } from '../limits.ts';
import { emit, emitIfFollowed, type Draft } from './effects.ts';
import { formOf } from './forms.ts';
import { unfinished } from './history.ts';
import { addRun, noteSeq } from './loading.ts';
import { endsInMs, withPresence } from './presence.ts';
import { isUnheard, withActive } from './runs.ts';
import { without } from './state.ts';
import { settle } from './writing.ts';


type Frame<T extends ServerFrame['type']> = ServerFrame & { type: T };

// Events were lost before a subscription, so what may have changed meanwhile is looked up.
export function subscribed(draft: Draft, frame: Subscribed) {
  const { active } = frame;
  noteSeq(draft, frame.seq);
  draft.isGone = false;
  draft.runs = { ...withActive(draft.runs, active), heardAt: draft.now };
  const isActive = (id: string) => active.some(({ runId }) => runId === id);
  settle(draft, ({ about: { runId } }) => !!runId && !isActive(runId));
  // Forms of earlier events may be closed by now.
  draft.forms = new Map();
  refresh(draft);
  showPresence(draft);
  if (draft.unsentRead > 0) sendRead(draft);
}

/** The connection pinged the server, or the page was shown or hidden. */
export function tick(draft: Draft) {
  showPresence(draft);
  const { runs, history, now } = draft;
  const isSettled =
    runs.active.size + unfinished(history).length === 0 &&
    !history.list.some((message) => isUnheard(runs, message));
  if (now - runs.heardAt < (isSettled ? LONGEST_STALE_MS : runs.staleMs)) return;
  // What stays unfinished is looked up less and less often.
  draft.runs = { ...runs, staleMs: Math.min(2 * runs.staleMs, LONGEST_STALE_MS), heardAt: now };
  refresh(draft);
}

const refresh = (draft: Draft) => emit(draft, 'job', 'refresh');

/** Sends the read position until the server has it. */
export const sendRead = (draft: Draft) => emit(draft, 'job', 'read');

/** Any event of a run. */
export function runChanged(draft: Draft, frame: RunEvent | RunQueued) {
  draft.runs = { ...draft.runs, heardAt: draft.now, staleMs: STALE_MS };
  addRun(draft, frame.run, 'position' in frame ? frame.position : null);
}

export function formRequested(draft: Draft, frame: Frame<'tool.requested'>) {
  const { callId, messageId: id, runId } = frame;
  // A frame without its input was cut. The form comes with its message.
  if (!frame.input) return;
  const form = formOf(draft.id, { id, runId }, frame, draft.caller);
  draft.forms = new Map(draft.forms).set(callId, form);
}

/** The form of a call is closed. */
export function formClosed(draft: Draft, { callId }: { callId: string }) {
  draft.forms = without(draft.forms, callId);
}

export function presenceChanged(draft: Draft, frame: PresenceEvent) {
  draft.presence = withPresence(draft.presence, frame, draft.now);
  expireLater(draft);
}

// Some of those who were present may have gone without a word.
function checkPresence(draft: Draft) {
  draft.presence = { ...draft.presence, now: draft.now };
  expireLater(draft);
}

function expireLater(draft: Draft) {
  const leftMs = endsInMs(draft.presence);
  if (leftMs < Infinity)
    emitIfFollowed(draft, 'later', 'presence', leftMs + 1, checkPresence);
}

/** Says to the others that the caller is here, unless the caller does not want that. */
function showPresence(draft: Draft) {
  if (!draft.isPresent || !draft.isOpen) return;
  const { id: spaceId, now, isHidden: hidden } = draft;
  const typing = now - draft.typedAt < TYPING_MS;
  if (typing) draft.typingSentAt = now;
  emit(draft, 'frame', { action: 'presence', spaceId, typing, hidden });
}

/** The person pressed a key, or has stopped. Not every key is sent. */
export function typed(draft: Draft, isTyping: boolean) {
  const { now, typedAt, typingSentAt } = draft;
  const isDue = isTyping ? now - typingSentAt >= TYPING_MS : typedAt > 0;
  draft.typedAt = isTyping ? now : 0;
  if (isDue) showPresence(draft);
  // After a stop the next key is sent at once.
  if (!isTyping) draft.typingSentAt = 0;
}
