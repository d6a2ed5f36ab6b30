// The question of a form, from the call's input: a heading, paragraphs, and the rest as names and
// values. Pure.

import { isObject, wordsFor } from './json.js';

const HEADINGS = ['title', 'question', 'message', 'heading', 'prompt', 'subject', 'text'];
// These are understood without their name, even if another text is the heading.
const TEXTS = ['question', 'message', 'prompt', 'text'];

/**
 * Returns `{heading, texts, rest: [[name, text]], options}`. `options` is null unless the call
 * shows buttons.
 */
export function questionOf({ name, input, ui }) {
  const unnamed = `${name} asks`;
  if (!isObject(input)) return { heading: unnamed, texts: [], rest: [], options: null };
  const isText = (key) =>
    Object.hasOwn(input, key) && typeof input[key] === 'string' && input[key].trim() !== '';
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
    heading: headingKey ? input[headingKey] : unnamed,
    texts: paragraphs.map((key) => input[key]),
    rest: rest.map(([key, value]) => [key, wordsFor(value)]),
    options,
  };
}
