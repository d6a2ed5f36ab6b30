// Declining a form in two steps: a button opens a panel that asks for an optional reason.

import { element, setText } from './dom.js';
import { newId } from './fields.js';

/**
 * Returns `{opener, node, slot, read}`: the button, the panel, the slot for an error in the reason
 * (see fields.js), and a function that returns the draft. `decline` gets `{declined, reason?}`;
 * `changed` is called when the panel opens or closes.
 */
export function newDeclineForm({ reason = '', isOpen = false } = {}, decline, changed) {
  const fault = element('p', { class: 'problem', id: newId(), dir: 'auto' });
  const input = element('input', {
    id: newId(),
    type: 'text',
    autocomplete: 'off',
    'aria-describedby': fault.id,
  });
  input.value = reason;
  const back = element(
    'button',
    { type: 'button', class: 'quiet', onclick: () => open(false) },
    'Back',
  );
  const row = element(
    'div',
    { class: 'ask-row' },
    element('button', { type: 'submit' }, 'Decline'),
    back,
  );
  const label = element('label', { for: input.id }, 'Why not? (optional)');
  const node = element(
    'form',
    { id: newId(), class: 'declining', novalidate: true, autocomplete: 'off' },
    label,
    input,
    fault,
    row,
  );
  const opener = element(
    'button',
    { type: 'button', class: 'quiet', 'aria-controls': node.id, onclick: () => open(true) },
    'Decline…',
  );

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
    decline(
      input.value.trim() === ''
        ? { declined: true }
        : { declined: true, reason: input.value.trim() },
    );
  });
  node.addEventListener('input', () => setText(fault, ''));
  show(isOpen);
  const slot = {
    pointer: '/reason',
    show: (text) => setText(fault, text),
    focus: () => input.focus(),
  };
  return { opener, node, slot, read: () => ({ reason: input.value, isOpen: !node.hidden }) };
}
