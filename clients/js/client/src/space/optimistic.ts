// What a person changed about messages and the server has not confirmed yet. It is laid over the
// messages that are shown, so that nothing is left of it if the server refuses it. Pure.

import type { Mutable } from '../store.ts';
import type { Message, Reaction } from '../types.ts';

/** A change of one message. */
export interface MessageChange {
  readonly seq: number;
  /** The message as it is shown until the server answers. */
  show?(message: Message): Message;
  /** Pins the message, or unpins it. */
  readonly isPinned?: boolean;
}

/** The unconfirmed changes, oldest first. */
export type Unconfirmed = readonly MessageChange[];

type Draft = Mutable<{ readonly unconfirmed: Unconfirmed }>;

/** A person changes a message. */
export function changeBegun(draft: Draft, change: MessageChange) {
  draft.unconfirmed = [...draft.unconfirmed, change];
}

/** The server has answered. What it confirms is in the state already. */
export function changeEnded(draft: Draft, change: MessageChange) {
  draft.unconfirmed = draft.unconfirmed.filter((each) => each !== change);
}

// A message with unconfirmed changes stays the same object until one of them ends.
const cache = new WeakMap<Message, { unconfirmed: Unconfirmed; shown: Message }>();

/** A message as it is shown. */
export function withUnconfirmed(unconfirmed: Unconfirmed, message: Message): Message {
  const own = unconfirmed.filter(({ seq }) => seq === message.seq);
  // Nothing changes a tombstone.
  if (own.length === 0 || message.deleted) return message;
  const cached = cache.get(message);
  if (cached?.unconfirmed === unconfirmed) return cached.shown;
  const shown = own.reduce((before, change) => change.show?.(before) ?? before, message);
  cache.set(message, { unconfirmed, shown });
  return shown;
}

// Forms of an emoji with and without the selector are one.
const bare = (emoji: string) => emoji.replaceAll('\uFE0F', '');

/** Reactions with or without that of an entity. */
export function toggled(
  reactions: Reaction[],
  emoji: string,
  on: boolean,
  entityId: string,
): Reaction[] {
  const found = reactions.find((each) => bare(each.emoji) === bare(emoji));
  const { count = 0, entityIds = [] }: Partial<Reaction> = found ?? {};
  // Of more than 50 entities it is not known whether this one is among them.
  if (on === entityIds.includes(entityId)) return reactions;
  const others = entityIds.filter((id) => id !== entityId);
  const next = on
    ? { emoji, ...found, count: count + 1, entityIds: [...others, entityId] }
    : { emoji, ...found, count: count - 1, entityIds: others };
  if (!found) return [...reactions, next];
  return reactions.flatMap((each) => (each !== found ? each : next.count > 0 ? next : []));
}

/** The numbers of the pinned messages, as they are shown. */
export const pinsWithUnconfirmed = (unconfirmed: Unconfirmed, pins: number[]) =>
  unconfirmed.reduce(
    (shown, { seq, isPinned }) => (isPinned === undefined ? shown : withPin(shown, seq, isPinned)),
    pins,
  );

/** The numbers of the pinned messages with or without this one. */
export const withPin = (pins: readonly number[], seq: number, on: boolean) => {
  const others = pins.filter((each) => each !== seq);
  return on ? [...others, seq] : others;
};
