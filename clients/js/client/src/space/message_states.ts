// Which of two states of a message holds. Its reactions have a revision of their own. Pure.

import { LONGEST_EXCERPT } from '../limits.ts';
import type { Message, Parent, Reaction } from '../types.ts';

/** The reactions to a message, and their revision. */
export type Reactions = Pick<Message, 'reactions' | 'reactionsRev'>;

/** The newer one of two states of a message, with the newer one of their reactions. */
export const newest = (current: Message | undefined, other: Message): Message => {
  if (!current) return other;
  return isNewer(other, current) ? withReactions(other, current) : withReactions(current, other);
};

function isNewer(message: Message, current: Message): boolean {
  // Nothing follows a tombstone but what the server knows better about it.
  if (current.deleted || message.deleted)
    return !!message.deleted && (!current.deleted || message.rev > current.rev);
  // A message with the same `rev` is the same one, unless a frame has cut what is loaded.
  return message.rev > current.rev || (message.rev === current.rev && !!current.truncated);
}

/** A message with these reactions, if they are newer than its own. */
export function withReactions(message: Message, other: Reactions | undefined): Message {
  const { reactionsRev } = other ?? {};
  if (message.deleted || !reactionsRev || reactionsRev <= (message.reactionsRev ?? 0))
    return message;
  return reacted({ ...message, reactionsRev }, other?.reactions ?? []);
}

/** A message with these reactions. Without any the field is absent. */
export const reacted = (message: Message, reactions: Reaction[]): Message =>
  reactions.length > 0 ? { ...message, reactions } : lacking(message, ['reactions']);

/** What remains of a deleted message. The server's tombstone has a higher `rev`. */
export const tombstoneOf = (
  message: Message,
  deleted: NonNullable<Message['deleted']>,
): Message => ({
  ...lacking(message, ['mentions', 'reactions', 'reactionsRev', 'editedAt']),
  parts: [],
  deleted,
});

function lacking(message: Message, fields: readonly (keyof Message)[]): Message {
  const copy: Message = { ...message };
  for (const field of fields) delete (copy as Partial<Message>)[field];
  return copy;
}

/** A message as the parent of its replies. */
export function parentOf({ id, seq, sender, parts, deleted }: Message): Parent {
  const card = parts.find((part) => part.type === 'tool');
  const text = card?.name ?? parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const excerpt = [...text.slice(0, 2 * LONGEST_EXCERPT)].slice(0, LONGEST_EXCERPT).join('');
  return { seq, messageId: id, sender, text: excerpt, ...(deleted && { deleted }) };
}
