// Messages on their way to the server, in order. They survive a reload, and each is repeated under
// its own key until the server's answer is known.

import { ClosedError, isTemporary, type SmartspaceError } from '../errors.ts';
import { backOff } from '../timers.ts';
import type { Message, PendingSend } from '../types.ts';
import { emit, type Draft } from './effects.ts';
import type { SendContent, StateEvent } from './event.ts';
import { lastSeq } from './history.ts';
import type { State } from './state.ts';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;
/** The server knows a key for 24 hours. After that a repeated message could be posted twice. */
export const LONGEST_AGE_MS = 23 * 3_600_000;

type Of<T extends StateEvent['type']> = StateEvent & { type: T };
type Keyed = { key: string };

const sendOf = ({ sends }: State, key: string) => sends.find((each) => each.key === key);

/** The place of a send in the storage; null while there is none. */
const placeOf = ({ prefix }: State, key: string) => (prefix === null ? null : prefix + key);

// Each send has an entry of its own in the storage, so that two tabs do not overwrite each other.
function put(draft: Draft, send: PendingSend) {
  const { sends } = draft;
  draft.sends = sendOf(draft, send.key)
    ? sends.map((each) => (each.key === send.key ? send : each))
    : [...sends, send];
  store(draft, send.key, send);
}

function store(draft: Draft, key: string, send?: PendingSend) {
  const name = placeOf(draft, key);
  if (name !== null) emit(draft, { type: 'store', name, ...(send && { send }) });
}

function remove(draft: Draft, key: string) {
  draft.sends = draft.sends.filter((each) => each.key !== key);
}

/** Adds what the person sends, and posts it if nothing is before it. */
export function addSend(draft: Draft, { key, content }: { key: string; content: SendContent }) {
  const afterSeq = lastSeq(draft.history);
  put(draft, { ...content, key, afterSeq, at: draft.now, state: 'queued' });
  wake(draft);
}

/** Posts what waits, as the server may be reachable again. */
export function wake(draft: Draft) {
  if (!draft.isAskedToWait) postNext(draft);
}

/** Posts the first send that waits, unless another one is under way. */
export function postNext(draft: Draft) {
  const send = draft.sends.find(({ state }) => state !== 'failed');
  if (draft.isPosting || !send) return;
  if (draft.now - send.at > LONGEST_AGE_MS) {
    fail(draft, send, new Error('This message is too old to be sent by itself.'));
    return postNext(draft);
  }
  draft.isPosting = true;
  draft.isAskedToWait = false;
  // It is stored as `sending` first: a page that ends now does not know whether it was posted.
  put(draft, { ...send, state: 'sending' });
  emit(draft, { type: 'post', send, name: placeOf(draft, send.key) });
}

/** The server has stored a send as this message. */
export function stored(draft: Draft, key: string, message: Message, isShown: boolean) {
  if (!draft.claims.has(key)) claim(draft, key, message, isShown);
  draft.isPosting = false;
  draft.failingSince = 0;
  succeed(draft, key, message);
}

function succeed(draft: Draft, key: string, message: Message) {
  remove(draft, key);
  store(draft, key);
  emit(draft, { type: 'settle', key, message });
}

/** An attempt has failed: for a while, for good, or because the client was closed. */
export function attemptFailed(draft: Draft, { key, error }: Of<'sendFailed'>) {
  const send = sendOf(draft, key);
  if (!send) return;
  if (error instanceof ClosedError) {
    // It stays busy, so that nothing is posted any longer.
    draft.closed = error;
    put(draft, { ...send, state: 'queued' });
    emit(draft, { type: 'settle', error });
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
  put(draft, { ...send, state: 'queued', isUnsure });
  draft.failingSince ||= draft.now;
  const leastMs = (retryAfter ?? 0) * 1000;
  draft.isAskedToWait = leastMs > 0;
  const longestMs = backOff(draft.now - draft.failingSince, FIRST_DELAY_MS, LONGEST_DELAY_MS);
  const delayMs = Math.max(longestMs * (0.5 + draft.random / 2), leastMs);
  // Sends go on after the space was left.
  emit(draft, { type: 'later', delayMs, event: { type: 'sendDue' }, isLasting: true });
}

function fail(draft: Draft, send: PendingSend, error: Error) {
  const { key } = send;
  const message = draft.claims.get(key);
  // An attempt whose answer was lost has stored it after all.
  if (send.isUnsure && message) return succeed(draft, key, message);
  // A message with the same text may have taken its place. It was another one.
  const claims = new Map(draft.claims);
  const keys = new Map(draft.keys);
  keys.delete(message?.id ?? '');
  claims.delete(key);
  Object.assign(draft, { claims, keys });
  put(draft, { ...send, state: 'failed', error });
  emit(draft, { type: 'settle', key, error });
}

/** Removes a send that is not under way, and marks it for the other tabs. */
export function discard(draft: Draft, { key }: Keyed) {
  const send = sendOf(draft, key);
  if (!send || send.state === 'sending') return;
  remove(draft, key);
  const name = placeOf(draft, key);
  if (name !== null) emit(draft, { type: 'mark', name });
  emit(draft, { type: 'settle', key, error: new Error('The message was discarded.') });
}

/** Another tab has discarded the send that was about to be posted. */
export function discardedElsewhere(draft: Draft, event: Keyed) {
  draft.isPosting = false;
  draft.sends = draft.sends.map((each) =>
    each.key === event.key ? { ...each, state: 'queued' } : each,
  );
  discard(draft, event);
  postNext(draft);
}

/** Sends a failed message again, as a new one, unless another tab has done that. */
export function resend(draft: Draft, event: Of<'resend'>) {
  const failed = sendOf(draft, event.key);
  if (failed?.state !== 'failed') return;
  const { text, files, senderId } = failed;
  discard(draft, event);
  if (event.isMarked) return;
  addSend(draft, { key: event.newKey, content: { text, files, senderId } });
}

/** Takes over what an earlier page left in the storage, and keeps sends there from now on. */
export function restore(draft: Draft, prefix: string, left: readonly PendingSend[]) {
  if (draft.prefix !== null) return;
  const own = draft.sends;
  draft.prefix = prefix;
  draft.sends = [...own, ...left].sort((one, other) => one.at - other.at);
  for (const send of own) store(draft, send.key, send);
  postNext(draft);
}

/** Records which message a send became. A message that was shown before keeps its own key. */
export function claim(draft: Draft, key: string, message: Message, isShown: boolean) {
  draft.claims = new Map(draft.claims).set(key, message);
  if (!isShown) draft.keys = new Map(draft.keys).set(message.id, key);
}
