// The line below a card with the tool's name and status. It opens to show the whole input and
// output.

import { element, setText } from './dom.js';
import { shortened, wordsFor } from './json.js';

const LONGEST_CHARS = 120;

/** Returns `{node, show}` for one call. */
export function newDetails() {
  const name = element('span');
  const result = element('span', { class: 'result', dir: 'auto' });
  const title = element('summary', {}, name, ' ', result);
  const input = element('pre');
  const output = element('pre');
  const node = element(
    'details',
    {},
    title,
    element('div', { class: 'tool-label' }, 'Input'),
    input,
  );
  const outputLabel = element('div', { class: 'tool-label' }, 'Output');
  const show = (part) => {
    setText(name, `${part.name} · ${part.status}`);
    setText(result, resultText(part));
    setText(input, part.raw ?? JSON.stringify(part.input, null, 2));
    if (part.output === null || part.output === undefined) return;
    setText(
      output,
      typeof part.output === 'string' ? part.output : JSON.stringify(part.output, null, 2),
    );
    if (!outputLabel.isConnected) node.append(outputLabel, output);
  };
  return { node, show };
}

// The output of a call without a form, on one line. A call with a form has an outcome instead.
function resultText({ ui, output }) {
  if (typeof ui === 'string' || output === null || output === undefined) return '';
  return shortened(wordsFor(output).replace(/\s+/g, ' ').trim(), LONGEST_CHARS);
}
