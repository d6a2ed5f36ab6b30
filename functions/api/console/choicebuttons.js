// What the component "buttons" asks with: a comment and one button for each option.

import { element } from './element.js';
import { newId } from './fields.js';
import { labelOf } from './json.js';

/** `{node, actions, read, places}`: as a field is, with its buttons; `choose` is called with the answer. */
export function newChoice(options, typed, choose) {
  const comment = element('textarea', { id: newId(), rows: 1, class: 'comment' });
  comment.value = typed ?? '';
  const answer = (choice) => (comment.value.trim() === '' ? { choice } : { choice, comment: comment.value });
  const newButton = (option) =>
    element('button', { type: 'button', class: 'option', dir: 'auto', onclick: () => choose(answer(option)) }, labelOf(option));
  const node = element('div', { class: 'field' }, element('label', { for: comment.id }, 'Comment (optional)'), comment);
  return { node, actions: options.map(newButton), read: () => comment.value, places: [] };
}
