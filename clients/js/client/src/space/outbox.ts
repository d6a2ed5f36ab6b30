// The outbox of a space: posts sends one after the other. A send survives a reload, and is repeated
// under its own key until the server's answer is known.

import { ClosedError, isTemporary, type SmartspaceError } from '../errors.ts';
import { AFTER_ALL, LONGEST_AGE_MS, LONGEST_SEND_DELAY_MS, SEND_DELAY_MS } from '../limits.ts';
import { backOff } from '../timers.ts';
import type { Message, PendingSend } from '../types.ts';
import { without } from './collections.ts';
import { emit, type Draft } from './effects.ts';
import { lastSeq, startAfter } from './history.ts';
import { addMessages } from './loading.ts';
import { claim, type SendContent } from './claims.ts';
import { isKnown, type State } from './state.ts';

const sendOf = (state: State, key: string) => state.sends.find((each) => each.key === key);

// Replaces or removes a send. Each has an entry of its own in the storage, so that two tabs do not
// overwrite each other.
function putSend(draft: Draft, key: string, send?: PendingSend) {
  draft.sends = draft.sends.flatMap((each) => (each.key === key ? (send ?? []) : each));
  emit(draft, 'store', key, send);
}

/** Adds what the person sends, and posts it if nothing is before it. */
export function addSend(draft: Draft, key: string, content: SendContent) {
  // Before the messages are known, an old one with the same text must not pass for this one.
  const afterSeq = isKnown(draft) ? lastSeq(draft) : AFTER_ALL;
  const send: PendingSend = { ...content, key, afterSeq, at: draft.now, state: 'queued' };
  draft.sends = [...draft.sends, send];
  putSend(draft, key, send);
  postIfAllowed(draft);
}

/** Posts the next send, unless the server asked for a pause. */
export function postIfAllowed(draft: Draft) {
  // The sends that an earlier page left are older, and are posted first.
  if (!draft.isRestored) emit(draft, 'restore');
  else if (!draft.mustWait) postNext(draft);
}

/** The pause after a failed attempt is over. */
export function pauseEnded(draft: Draft) {
  draft.mustWait = false;
  postNext(draft);
}

/** Posts the first send that waits, unless another one is under way. */
function postNext(draft: Draft) {
  const send = draft.sends.find((each) => each.state !== 'failed');
  if (draft.isPosting || !send) return;
  if (draft.now - send.at > LONGEST_AGE_MS) {
    fail(draft, send, new Error('The message is too old.'));
    return postNext(draft);
  }
  draft.isPosting = true;
  // It is stored as `sending` first: a page that ends now does not know whether it was posted.
  putSend(draft, send.key, { ...send, state: 'sending' });
  emit(draft, 'post', send);
}

/** The server has stored a send as this message. */
export function stored(draft: Draft, key: string, message: Message) {
  if (!draft.claims.has(key)) claim(draft, key, message, draft);
  draft.isPosting = false;
  draft.failingSince = 0;
  succeed(draft, key, message);
  // The list of spaces may have brought later messages before this answer.
  if (draft.isLoading && message.seq < draft.floor) startAfter(draft, message.seq - 1);
  addMessages(draft, [message]);
  postNext(draft);
}

function succeed(draft: Draft, key: string, message: Message) {
  putSend(draft, key);
  emit(draft, 'resolveSend', key, message);
}

/** An attempt has failed: for a while, for good, or because the client was closed. */
export function attemptFailed(draft: Draft, key: string, error: Error) {
  // `isPosting` stays true, so that the closed client posts nothing more.
  if (error instanceof ClosedError)
    return draft.sends.forEach((each) => emit(draft, 'resolveSend', each.key, null, error));
  const send = sendOf(draft, key);
  if (!send) return;
  draft.isPosting = false;
  if (isTemporary(error)) return pause(draft, send, error as SmartspaceError);
  fail(draft, send, error);
  postNext(draft);
}

function pause(draft: Draft, send: PendingSend, { status, retryAfter }: SmartspaceError) {
  // Only an answer below 500 says that the server has not stored it.
  const isUnsure = send.isUnsure || !(status > 0 && status < 500);
  putSend(draft, send.key, { ...send, state: 'queued', isUnsure });
  draft.failingSince ||= draft.now;
  const leastMs = (retryAfter ?? 0) * 1000;
  draft.mustWait = leastMs > 0;
  const longestMs = backOff(draft.now - draft.failingSince, SEND_DELAY_MS, LONGEST_SEND_DELAY_MS);
  const delayMs = Math.max(longestMs * (0.5 + draft.random / 2), leastMs);
  emit(draft, 'postLater', delayMs);
}

function fail(draft: Draft, send: PendingSend, error: Error) {
  const { key } = send;
  const message = draft.claims.get(key);
  // The answer to an earlier attempt was lost, and its message has arrived.
  if (send.isUnsure && message) return succeed(draft, key, message);
  // The claimed message has the same text, but was another one.
  draft.claims = without(draft.claims, key);
  draft.keys = without(draft.keys, message?.id ?? '');
  putSend(draft, key, { ...send, state: 'failed', error });
  emit(draft, 'resolveSend', key, null, error);
}

/** Removes a send that is not under way, and marks it for the other tabs. */
export function discard(draft: Draft, key: string) {
  const send = sendOf(draft, key);
  if (!send || send.state === 'sending') return;
  putSend(draft, key);
  emit(draft, 'mark', key);
  emit(draft, 'resolveSend', key, null, new Error('The message was discarded.'));
}

/** Another tab has discarded the send that was about to be posted. */
export function discardedElsewhere(draft: Draft, key: string) {
  const send = sendOf(draft, key);
  draft.isPosting = false;
  if (send) putSend(draft, key, { ...send, state: 'queued' });
  discard(draft, key);
  postNext(draft);
}

/** Sends a failed message again, as a new one, unless another tab has discarded it. */
export function resend(draft: Draft, key: string, newKey: string, isMarked: boolean) {
  const failed = sendOf(draft, key);
  if (failed?.state !== 'failed') return;
  const { text, files, senderId, replyTo } = failed;
  discard(draft, key);
  if (isMarked) return;
  addSend(draft, newKey, { text, files, senderId, replyTo });
}

/** Takes over what an earlier page left in the storage, which keeps the sends from now on. */
export function sendsRestored(draft: Draft, left: readonly PendingSend[]) {
  const own = draft.sends;
  draft.sends = [...own, ...left].sort((one, other) => one.at - other.at);
  draft.isRestored = true;
  for (const send of own) putSend(draft, send.key, send);
  postIfAllowed(draft);
}
