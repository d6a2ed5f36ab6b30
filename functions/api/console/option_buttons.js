// The component "buttons": a comment and one button for each option.

import { element } from './dom.js';
import { newId } from './fields.js';
import { labelOf } from './json.js';

/**
 * Returns the same as a field (see fields.js) and its buttons as `actions`. `choose` gets the
 * answer.
 */
export function newOptionButtons(options, typed, choose) {
  const comment = element('textarea', { id: newId(), rows: 1, class: 'comment' });
  comment.value = typed ?? '';
  const answer = (choice) =>
    comment.value.trim() === '' ? { choice } : { choice, comment: comment.value };
  const newButton = (option) =>
    element(
      'button',
      { type: 'button', class: 'option', dir: 'auto', onclick: () => choose(answer(option)) },
      labelOf(option),
    );
  const node = element(
    'div',
    { class: 'field' },
    element('label', { for: comment.id }, 'Comment (optional)'),
    comment,
  );
  return { node, actions: options.map(newButton), read: () => comment.value, slots: [] };
}
