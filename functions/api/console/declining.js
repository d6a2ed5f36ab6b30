// Saying no to what an agent asks, in two steps: a word on why may go with it.

import { element, setText } from './element.js';
import { newId } from './fields.js';

/**
 * `{opener, node, place, read}`: a button, the panel that it opens, where a fault of the reason is shown (as in fields.js), and what is
 * typed. `decline` is called with `{declined, reason?}`, `changed` when the panel is opened or closed.
 */
export function newDeclining({ reason = '', isOpen = false } = {}, decline, changed) {
  const fault = element('p', { class: 'problem', id: newId(), dir: 'auto' });
  const input = element('input', { id: newId(), type: 'text', autocomplete: 'off', 'aria-describedby': fault.id });
  input.value = reason;
  const back = element('button', { type: 'button', class: 'quiet', onclick: () => open(false) }, 'Back');
  const row = element('div', { class: 'ask-row' }, element('button', { type: 'submit' }, 'Decline'), back);
  const label = element('label', { for: input.id }, 'Why not? (optional)');
  const node = element('form', { id: newId(), class: 'declining', novalidate: true, autocomplete: 'off' }, label, input, fault, row);
  const opener = element('button', { type: 'button', class: 'quiet', 'aria-controls': node.id, onclick: () => open(true) }, 'Decline…');

  const show = (isShown) => {
    node.hidden = !isShown;
    opener.setAttribute('aria-expanded', String(isShown));
  };
  const open = (isShown) => {
    show(isShown);
    (isShown ? input : opener).focus();
    row.scrollIntoView({ block: 'nearest' });
    changed();
  };
  node.addEventListener('submit', (event) => {
    event.preventDefault();
    decline(input.value.trim() === '' ? { declined: true } : { declined: true, reason: input.value.trim() });
  });
  node.addEventListener('input', () => setText(fault, ''));
  show(isOpen);
  const place = { pointer: '/reason', show: (text) => setText(fault, text), focus: () => input.focus() };
  return { opener, node, place, read: () => ({ reason: input.value, isOpen: !node.hidden }) };
}
