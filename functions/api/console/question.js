// What a call asks of people, from its input: a heading, texts below it, and the rest as names and values. Pure.

import { isObject, wordsFor } from './json.js';

const HEADINGS = ['title', 'question', 'message', 'heading', 'prompt', 'subject', 'text'];
// These speak for themselves also where something else is the heading.
const TEXTS = ['question', 'message', 'prompt', 'text'];

/** `{heading, texts, rest: [[name, text]], options}`; `options` is null where there are none to choose from with buttons. */
export function questionOf({ name, input, ui }) {
  const unnamed = `${name} asks`;
  if (!isObject(input)) return { heading: unnamed, texts: [], rest: [], options: null };
  const isText = (key) => Object.hasOwn(input, key) && typeof input[key] === 'string' && input[key].trim() !== '';
  const options = ui === 'buttons' && Array.isArray(input.options) && input.options.length > 0 ? input.options : null;
  const headed = (options ? ['message', ...HEADINGS] : HEADINGS).find(isText);
  const said = TEXTS.filter((key) => key !== headed && isText(key));
  const rest = Object.entries(input).filter(([key]) => key !== headed && !said.includes(key) && !(options && key === 'options'));
  return {
    heading: headed ? input[headed] : unnamed,
    texts: said.map((key) => input[key]),
    rest: rest.map(([key, value]) => [key, wordsFor(value)]),
    options,
  };
}
