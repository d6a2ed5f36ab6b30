// The line below a call with its name and how it stands, and behind it all of its input and output.

import { element, setText } from './element.js';
import { shortened, wordsFor } from './json.js';

const LONGEST_CHARS = 120;

/** `{node, show}` of one call. */
export function newDetails() {
  const name = element('span');
  const result = element('span', { class: 'result', dir: 'auto' });
  const title = element('summary', {}, name, ' ', result);
  const input = element('pre');
  const output = element('pre');
  const node = element('details', {}, title, element('div', { class: 'tool-label' }, 'Input'), input);
  const outputLabel = element('div', { class: 'tool-label' }, 'Output');
  const show = (part) => {
    setText(name, `${part.name} · ${part.status}`);
    setText(result, resultText(part));
    setText(input, part.raw ?? JSON.stringify(part.input, null, 2));
    if (part.output === null || part.output === undefined) return;
    setText(output, typeof part.output === 'string' ? part.output : JSON.stringify(part.output, null, 2));
    if (!outputLabel.isConnected) node.append(outputLabel, output);
  };
  return { node, show };
}

// What came of a call that asked nobody, on one line; the others have an outcome.
function resultText({ ui, output }) {
  if (typeof ui === 'string' || output === null || output === undefined) return '';
  return shortened(wordsFor(output).replace(/\s+/g, ' ').trim(), LONGEST_CHARS);
}
