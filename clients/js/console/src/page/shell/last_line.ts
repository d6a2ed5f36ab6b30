// What the list of spaces says of a space's last message. Pure.

import type { Message, Sender } from '@smartspace/client';
import { excerptOf, firstWordsOf } from '../../message/message_words.ts';
import { shownName } from '../../ui/visible.ts';

/** The last message as the list of spaces brings it. */
interface Listed {
  at: string;
  sender: Sender;
  /** The beginning of its text; null if it is deleted. */
  excerpt: string | null;
  deleted?: boolean;
}

/** A message that the client follows, or what the list brings of one. */
export type LastMessage = Listed | Message;

/** Its sender and its text in one line, and when it was written, in milliseconds since 1970. */
export function lastLineOf(last: LastMessage): { text: string; at: number } {
  const isListed = 'excerpt' in last;
  const words = isListed ? excerptOf(last.excerpt ?? '') : firstWordsOf(last);
  return {
    text: `${shownName(last.sender)}: ${last.deleted ? 'deleted' : words || '…'}`,
    at: Date.parse(isListed ? last.at : last.createdAt),
  };
}
