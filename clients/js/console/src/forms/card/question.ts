// The question of a form, from the call's input: a heading, paragraphs, and the rest as names and
// values. Pure.

import type { ToolPart } from '@smartspace/client';
import { isObject, wordsFor } from '../schema/json.ts';
import type { Pair } from './answer_text.ts';

const HEADINGS = ['title', 'question', 'message', 'heading', 'prompt', 'subject', 'text'];
// These are understood without their name, even if another text is the heading.
const TEXTS = ['question', 'message', 'prompt', 'text'];

/** The question of a form. */
export interface Question {
  heading: string;
  texts: readonly string[];
  rest: readonly Pair[];
  /** Null unless the call shows buttons. */
  options: readonly unknown[] | null;
}

export function questionOf({ name, input, ui }: Pick<ToolPart, 'name' | 'input' | 'ui'>): Question {
  const unnamed = `${name} asks`;
  if (!isObject(input)) return { heading: unnamed, texts: [], rest: [], options: null };
  const textAt = (key: string): string | null => {
    const value = Object.hasOwn(input, key) ? input[key] : null;
    return typeof value === 'string' && value.trim() !== '' ? value : null;
  };
  const isText = (key: string) => textAt(key) !== null;
  const options =
    ui === 'buttons' && Array.isArray(input.options) && input.options.length > 0
      ? input.options
      : null;
  const headingKey = (options ? ['message', ...HEADINGS] : HEADINGS).find(isText);
  const paragraphs = TEXTS.filter((key) => key !== headingKey && isText(key));
  const rest = Object.entries(input).filter(
    ([key]) => key !== headingKey && !paragraphs.includes(key) && !(options && key === 'options'),
  );
  return {
    heading: (headingKey && textAt(headingKey)) ?? unnamed,
    texts: paragraphs.flatMap((key) => textAt(key) ?? []),
    rest: rest.map(([key, value]) => [key, wordsFor(value)]),
    options,
  };
}
