// A message in words. Pure.

import type { Message, Part } from '@smartspace/client';
import { questionOf } from '../forms/card/question.ts';
import { plainWords } from '../markdown/plain_words.ts';
import { onOneLine, visible } from '../ui/visible.ts';

const MOST_CHARACTERS = 120;
// Enough for the first words, and read at once, however long the text is.
const MOST_READ = 2000;

/** The text of a message. Its files and cards are left out. */
export const textOf = ({ parts }: Pick<Message, 'parts'>): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');

/**
 * The first words of a Markdown text in one line, without its marks, and with what hides or
 * reorders others made visible.
 */
export const excerptOf = (text: string, most: number = MOST_CHARACTERS): string =>
  onOneLine(visible(plainWords(text.slice(0, MOST_READ))), most);

/** The first words of a message, or what it has instead of a text. */
export function firstWordsOf(message: Message): string {
  if (message.deleted) return 'a deleted message';
  const words = excerptOf(textOf(message));
  if (words !== '') return words;
  const first = message.parts.find((part) => part.type !== 'text');
  return first ? partWords(first) : '';
}

/** The question of a form, what another call says of itself, or the name of a file. */
export function partWords(part: Exclude<Part, { type: 'text' }>): string {
  if (part.type === 'file') return visible(part.name);
  const words = typeof part.ui === 'string' ? questionOf(part).heading : part.title;
  return onOneLine(visible(words || part.name), MOST_CHARACTERS);
}

/** How many messages there are, in words. */
export const countedMessages = (count: number): string =>
  `${count === 0 ? 'No' : count} ${count === 1 ? 'message' : 'messages'}`;

const DELETED_BY = { sender: 'its sender', owner: 'an owner', operator: 'the operator' } as const;

/** What stands in the place of a deleted message. */
export const deletedWords = ({ by }: NonNullable<Message['deleted']>): string =>
  `Deleted by ${DELETED_BY[by]}`;
