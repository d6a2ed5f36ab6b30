// The changes of a space that frames cause and that are longer than a line of reducer.ts, and those
// of presence. Frames may come late, twice, in another order or never.

import type { PresenceEvent, RunEvent, ServerFrame, Subscribed } from '../frames.ts';
import { LONGEST_STALE_MS, STALE_MS, TYPING_MS } from '../limits.ts';
import type { Form } from '../types.ts';
import { emit, patch, type Draft } from './effects.ts';
import { distrustParents } from './elsewhere.ts';
import { formOf } from './forms.ts';
import { unfinished } from './history.ts';
import { putRead } from './members.ts';
import { addRun, noteSeq } from './loading.ts';
import { endsInMs, withPresence } from './presence.ts';
import { hasUnknownRun, putActive } from './runs.ts';
import { meId, type State } from './state.ts';
import { endStreams } from './stream_lifetime.ts';
import { reloadElsewhere } from './threads.ts';
import { markUnread, putCounts, putListed, putOwnRead } from './unread.ts';

type Frame<T extends ServerFrame['type']> = ServerFrame & { type: T };

/** The space is followed from now on. Earlier events may be lost, so a refresh looks them up. */
export function subscribed(draft: Draft, frame: Subscribed) {
  const { active } = frame;
  noteSeq(draft, frame.seq);
  putActive(draft, active);
  endStreams(
    draft,
    ({ about }) => !!about.runId && !active.some((run) => run.runId === about.runId),
  );
  // Forms of earlier events may be closed by now. Those that were closed stay so.
  const forms = new Map([...draft.forms].filter(([, form]) => !form));
  const isOutdated = draft.isOutdated || draft.messages.length > 0;
  patch(draft, { isGone: false, lastFrameAt: draft.now, forms, isOutdated });
  distrustParents(draft);
  reloadElsewhere(draft);
  refresh(draft);
  showPresence(draft);
  if (draft.unsentRead > 0) sendRead(draft);
}

/** Some time has passed while the space is followed. */
export function ticked(draft: Draft) {
  const isFinished =
    draft.active.size + unfinished(draft).length === 0 &&
    !draft.messages.some((message) => hasUnknownRun(draft, message));
  const { now, staleMs } = draft;
  if (now - draft.lastFrameAt < (isFinished ? LONGEST_STALE_MS : staleMs)) return;
  // What stays unfinished is looked up less and less often.
  patch(draft, { lastFrameAt: now, staleMs: Math.min(2 * staleMs, LONGEST_STALE_MS) });
  draft.isOutdated ||= isFinished;
  refresh(draft);
}

const refresh = (draft: Draft) => emit(draft, 'job', 'refresh');

// Sends the read position until the server has it.
const sendRead = (draft: Draft) => emit(draft, 'job', 'read');

/** The caller has read up to this message. */
export function markRead(draft: Draft, seq: number) {
  // A page may show the last messages before the space counts as open.
  if (!draft.isFollowing) markUnread(draft);
  // Before the space is loaded, nothing says how far the caller has read.
  if (draft.space ? !putOwnRead(draft, { seq }) : seq <= draft.unsentRead) return;
  draft.unsentRead = seq;
  sendRead(draft);
}

/** Members have read up to a message. */
export function positionsMoved(draft: Draft, frame: Frame<'space.read'>) {
  for (const read of frame.reads ?? [frame])
    if (read.entityId === meId(draft)) putOwnRead(draft, read);
    else putRead(draft, read.entityId, read.seq);
}

/** There is news in a space that the connection does not follow. */
export function activityShown(draft: Draft, frame: Frame<'space.activity'>) {
  putCounts(draft, frame);
  putListed(draft, frame.lastMessage);
  noteSeq(draft, frame.seq);
}

/** Any event of a run. */
export function runChanged(draft: Draft, frame: RunEvent) {
  patch(draft, { lastFrameAt: draft.now, staleMs: STALE_MS });
  addRun(draft, frame.run, frame.position);
  putRead(draft, frame.run.agentId, frame.readSeq ?? 0);
}

/** Adds forms of events and of older messages. A form that was closed stays so. */
export function addForms(draft: Draft, forms: readonly Form[]) {
  const added = forms.map((form) => [form.callId, form] as const);
  // The second time, what is known already replaces what is added.
  draft.forms = new Map([...draft.forms, ...added, ...draft.forms]);
}

export function formRequested(draft: Draft, frame: Frame<'tool.requested'>) {
  // A frame without its input was cut. The form comes with its message.
  if (!frame.input) return;
  addForms(draft, [formOf(draft.id, frame.messageId, frame.runId, frame, draft.caller)]);
}

/** The form of a call is closed. */
export function formClosed(draft: Draft, form: { callId: string }) {
  draft.forms = new Map(draft.forms).set(form.callId, null);
}

export function presenceChanged(draft: Draft, frame: PresenceEvent) {
  draft.presence = withPresence(draft.presence, frame, draft.now);
  expireLater(draft);
}

// No frame says that an entry of presence has expired.
function expireLater(draft: Draft) {
  const leftMs = endsInMs(draft.presence);
  if (leftMs < Infinity) emit(draft, 'later', 'expirePresence', leftMs + 1);
}

/** An entry of presence has expired. */
export function expirePresence(draft: Draft) {
  draft.presence = { ...draft.presence, now: draft.now };
  expireLater(draft);
}

/** Whether the caller is present: the client may show that, and the space is open. */
export const showsPresence = ({ isPresent, isOpen, isGone }: State) =>
  isPresent && isOpen && !isGone;

/** Sends that the caller is present, if it is, and whether it types. Pings renew it. */
function showPresence(draft: Draft) {
  if (!showsPresence(draft)) return;
  const typing = draft.now - draft.typedAt < TYPING_MS;
  if (typing) draft.typingSentAt = draft.now;
  emit(draft, 'frame', { action: 'presence', spaceId: draft.id, typing });
}

/** The person pressed a key, or has stopped. Not every key is sent. */
export function typed(draft: Draft, isTyping: boolean) {
  const { now } = draft;
  const isDue = isTyping ? now - draft.typingSentAt >= TYPING_MS : draft.typedAt > 0;
  draft.typedAt = isTyping ? now : 0;
  if (isDue) showPresence(draft);
  // After a stop the next key is sent at once.
  if (!isTyping) draft.typingSentAt = 0;
}
