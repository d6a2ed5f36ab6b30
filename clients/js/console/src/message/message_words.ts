// A message in words. Pure.

import type { Message } from '@smartspace/client';
import { onOneLine, visible } from '../ui/visible.ts';

const MOST_CHARACTERS = 120;

/** The text of a message. Its files and cards are left out. */
export const textOf = ({ parts }: Pick<Message, 'parts'>): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');

/** The first words of a text in one line, with what hides or reorders others made visible. */
export const excerptOf = (text: string): string => onOneLine(visible(text), MOST_CHARACTERS);

/** The first words of a message, or what it has instead of a text. */
export function firstWordsOf(message: Message): string {
  if (message.deleted) return 'a deleted message';
  const words = excerptOf(textOf(message));
  if (words !== '') return words;
  const [first] = message.parts;
  return first && 'name' in first ? visible(first.name) : '';
}

/** How many messages there are, in words. */
export const countedMessages = (count: number): string =>
  `${count === 0 ? 'No' : count} ${count === 1 ? 'message' : 'messages'}`;

const DELETED_BY = { sender: 'its sender', owner: 'an owner', operator: 'the operator' } as const;

/** What stands in the place of a deleted message. */
export const deletedWords = ({ by }: NonNullable<Message['deleted']>): string =>
  `Deleted by ${DELETED_BY[by]}`;
