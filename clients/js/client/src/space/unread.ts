// How many messages of a space the caller has not read. Tool cards do not count. Pure.

import type { LastMessage, Message, SpaceInfo } from '../types.ts';
import type { Draft } from './effects.ts';
import { memberOf, putRead } from './members.ts';
import { meId, NO_CARDS, type CardCount, type State } from './state.ts';

/** How far the caller has read. The operator's mark is that of what it has seen. */
export const readSeqOf = (state: State) =>
  state.caller?.kind === 'operator' ? state.read.seq : memberOf(state, meId(state))?.readSeq;

const cardsBetween = ({ messages }: State, after: number, until: number) =>
  messages.filter(
    ({ seq, parts }) => seq > after && seq <= until && parts.some(({ type }) => type === 'tool'),
  ).length;

// Between two counts the loaded messages say it.
function cardsUpTo(state: State, until: number): number {
  const { counted, read } = state;
  if (until === read.seq) return read.cards;
  const [newer, older] = [
    cardsBetween(state, counted.seq, until),
    cardsBetween(state, until, counted.seq),
  ];
  return counted.cards + newer - older;
}

/** The number of unread messages. */
export function unreadOf(state: State): number {
  const seq = readSeqOf(state) ?? Infinity;
  const { lastKnown } = state;
  const cards = Math.max(0, cardsUpTo(state, lastKnown) - cardsUpTo(state, seq));
  return Math.max(0, lastKnown - seq - cards);
}

/**
 * Puts the unread line before the first message that is not read yet. Later calls do not move it: a
 * message that arrives while the space is open is no reason for a line.
 */
export function markUnread(draft: Draft) {
  const readSeq = readSeqOf(draft) ?? Infinity;
  if (draft.unreadAfter === Infinity && readSeq < draft.lastKnown) draft.unreadAfter = readSeq;
}

/** The server says how many cards the space has, and how far the caller has read. */
export function putCounts(draft: Draft, found: CardCount | SpaceInfo) {
  const { seq, cards = 0 } = found;
  if (seq >= draft.counted.seq) draft.counted = { seq, cards };
  if (!('members' in found)) return;
  const { me, looked, lastMessage } = found;
  putOwnRead(draft, me ? { seq: me.readSeq, cards: me.readCards ?? 0 } : (looked ?? NO_CARDS));
  if (lastMessage) putListed(draft, lastMessage);
}

/** The last message, as the server lists it. */
export function putListed(draft: Draft, message: LastMessage) {
  const { seq = 0, excerpt } = draft.listed ?? {};
  if (message.seq > seq || (message.seq === seq && message.excerpt !== excerpt))
    draft.listed = message;
}

/** The caller has read up to a message. Returns whether that is news. */
export function putOwnRead(draft: Draft, { seq, cards }: { seq: number; cards?: number }): boolean {
  const isNews = seq > (readSeqOf(draft) ?? Infinity);
  if (seq > draft.read.seq || (seq === draft.read.seq && cards !== undefined))
    draft.read = { seq, cards: cards ?? cardsUpTo(draft, seq) };
  putRead(draft, meId(draft), seq);
  return isNews;
}

/** The last message, whole if it is loaded. */
export function lastOf(listed: LastMessage | null, loaded: Message | null) {
  if (!listed || !loaded) return loaded ?? listed;
  const isOlder = loaded.seq < listed.seq || (loaded.seq === listed.seq && listed.deleted);
  return isOlder ? listed : loaded;
}
