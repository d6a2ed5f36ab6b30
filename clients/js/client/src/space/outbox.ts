// Messages on their way to the server, in order. They survive a reload, and each is repeated under
// its own key until the server's answer is known.

import { ClosedError, isTemporary, type SmartspaceError } from '../errors.ts';
import { LONGEST_AGE_MS, LONGEST_SEND_DELAY_MS, SEND_DELAY_MS } from '../limits.ts';
import { backOff } from '../timers.ts';
import type { Message, PendingSend } from '../types.ts';
import { without } from './collections.ts';
import { emit, type Draft } from './effects.ts';
import { lastSeq, startAfter } from './history.ts';
import { addMessages } from './loading.ts';
import { claim, type SendContent } from './sends.ts';
import type { State } from './state.ts';

const sendOf = (state: State, key: string) => state.sends.find((each) => each.key === key);

// Replaces or removes a send. Each has an entry of its own in the storage, so that two tabs do not
// overwrite each other.
function put(draft: Draft, key: string, send?: PendingSend) {
  draft.sends = draft.sends.flatMap((each) => (each.key === key ? (send ?? []) : each));
  emit(draft, 'store', key, send);
}

/** Adds what the person sends, and posts it if nothing is before it. */
export function addSend(draft: Draft, key: string, content: SendContent) {
  const afterSeq = lastSeq(draft);
  const send: PendingSend = { ...content, key, afterSeq, at: draft.now, state: 'queued' };
  draft.sends = [...draft.sends, send];
  put(draft, key, send);
  wake(draft);
}

/** Posts what waits, as the server may be reachable again. */
export function wake(draft: Draft) {
  // What an earlier page left was written before.
  if (!draft.isRestored) emit(draft, 'restore');
  else if (!draft.isAskedToWait) postNext(draft);
}

function pauseEnded(draft: Draft) {
  draft.isAskedToWait = false;
  postNext(draft);
}

/** Posts the first send that waits, unless another one is under way. */
function postNext(draft: Draft) {
  const send = draft.sends.find((each) => each.state !== 'failed');
  if (draft.isPosting || !send) return;
  if (draft.now - send.at > LONGEST_AGE_MS) {
    fail(draft, send, new Error('The message is too old to be sent.'));
    return postNext(draft);
  }
  draft.isPosting = true;
  // It is stored as `sending` first: a page that ends now does not know whether it was posted.
  put(draft, send.key, { ...send, state: 'sending' });
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
  put(draft, key);
  emit(draft, 'settle', key, message);
}

/** An attempt has failed: for a while, for good, or because the client was closed. */
export function attemptFailed(draft: Draft, key: string, error: Error) {
  const send = sendOf(draft, key);
  if (!send) return;
  if (error instanceof ClosedError) {
    // It stays busy, so that nothing is posted any longer.
    put(draft, key, { ...send, state: 'queued' });
    for (const each of draft.sends) emit(draft, 'settle', each.key, null, error);
    return;
  }
  draft.isPosting = false;
  if (isTemporary(error)) return pause(draft, send, error as SmartspaceError);
  fail(draft, send, error);
  postNext(draft);
}

function pause(draft: Draft, send: PendingSend, { status, retryAfter }: SmartspaceError) {
  // Only an answer below 500 says that the server has not stored it.
  const isUnsure = send.isUnsure || !(status > 0 && status < 500);
  put(draft, send.key, { ...send, state: 'queued', isUnsure });
  draft.failingSince ||= draft.now;
  const leastMs = (retryAfter ?? 0) * 1000;
  draft.isAskedToWait = leastMs > 0;
  const longestMs = backOff(draft.now - draft.failingSince, SEND_DELAY_MS, LONGEST_SEND_DELAY_MS);
  const delayMs = Math.max(longestMs * (0.5 + draft.random / 2), leastMs);
  emit(draft, 'postLater', delayMs, pauseEnded);
}

function fail(draft: Draft, send: PendingSend, error: Error) {
  const { key } = send;
  const message = draft.claims.get(key);
  // An attempt whose answer was lost has stored it after all.
  if (send.isUnsure && message) return succeed(draft, key, message);
  // A message with the same text may have taken its place. It was another one.
  draft.claims = without(draft.claims, key);
  draft.keys = without(draft.keys, message?.id ?? '');
  put(draft, key, { ...send, state: 'failed', error });
  emit(draft, 'settle', key, null, error);
}

/** Removes a send that is not under way, and marks it for the other tabs. */
export function discard(draft: Draft, key: string) {
  const send = sendOf(draft, key);
  if (!send || send.state === 'sending') return;
  put(draft, key);
  emit(draft, 'mark', key);
  emit(draft, 'settle', key, null, new Error('The message was discarded.'));
}

/** Another tab has discarded the send that was about to be posted. */
export function discardedElsewhere(draft: Draft, key: string) {
  const send = sendOf(draft, key);
  draft.isPosting = false;
  if (send) put(draft, key, { ...send, state: 'queued' });
  discard(draft, key);
  postNext(draft);
}

/** Sends a failed message again, as a new one, unless another tab has discarded it. */
export function resend(draft: Draft, key: string, newKey: string, isMarked: boolean) {
  const failed = sendOf(draft, key);
  if (failed?.state !== 'failed') return;
  const { text, files, senderId } = failed;
  discard(draft, key);
  if (isMarked) return;
  addSend(draft, newKey, { text, files, senderId });
}

/** Takes over what an earlier page left in the storage, which keeps the sends from now on. */
export function restore(draft: Draft, left: readonly PendingSend[]) {
  const own = draft.sends;
  draft.sends = [...own, ...left].sort((one, other) => one.at - other.at);
  draft.isRestored = true;
  for (const send of own) put(draft, send.key, send);
  wake(draft);
}
