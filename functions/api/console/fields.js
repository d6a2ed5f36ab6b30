// The fields of a form on the page: labels, hints, controls, values and errors.

import { element, setText } from './dom.js';
import { wordsFor } from './json.js';

let lastId = 0;
/** An id that is unique in the page. */
export const newId = () => `field-${(lastId += 1)}`;

/**
 * Creates the node of a field (see schema.js) with the value `typed`. Returns `{node, read,
 * slots}`. `read` returns the typed value. `slots` are the places that can show an error:
 * `{pointer, show, focus}`. The outermost group has no slot of its own.
 */
export function newField(field, typed = field.initial) {
  if (field.kind === 'group') return newGroup(field, typed);
  if (field.kind === 'fixed') return newFixed(field);
  const notes = newNotes(field);
  const shown = MAKERS[field.shows ?? field.kind](field, typed, notes);
  return { node: shown.node, read: shown.read, slots: [newFaultSlot(field, shown, notes)] };
}

// Creates the controls of a field, by `shows` for a choice and by `kind` otherwise.
const MAKERS = {
  text: newTextBox,
  number: newTextBox,
  lines: newTextBox,
  json: newTextBox,
  checkbox: newCheckbox,
  tick: newCheckbox,
  choices: newCheckboxes,
  radios: newRadios,
  select: newSelect,
};

function newTextBox(field, typed, notes) {
  const { kind, input } = field;
  const shared = {
    id: newId(),
    required: field.isMarked,
    title: field.pattern,
    'aria-describedby': notes.ids,
  };
  const control =
    input === 'textarea' || kind === 'lines' || kind === 'json'
      ? element('textarea', {
          ...shared,
          rows: 2,
          class: kind,
          spellcheck: kind === 'json' ? 'false' : null,
        })
      : element('input', {
          ...shared,
          type: input ?? 'text',
          inputmode: kind === 'number' ? digitsOf(field) : null,
        });
  control.value = typed ?? '';
  return {
    node: labelled(control, field, notes),
    controls: [control],
    read: () => (control.validity.badInput ? null : control.value),
  };
}

function newSelect(field, typed, notes) {
  const options = field.options.map(({ label }, index) =>
    element('option', { value: index }, label),
  );
  const attributes = { id: newId(), required: field.isMarked, 'aria-describedby': notes.ids };
  const control = element('select', attributes, element('option', { value: '' }, '–'), ...options);
  control.value = typed;
  return { node: labelled(control, field, notes), controls: [control], read: () => control.value };
}

function newRadios(field, typed, notes) {
  const name = newId();
  const controls = field.options.map((_, index) =>
    element('input', { type: 'radio', name, value: index, checked: typed === String(index) }),
  );
  const node = framed(
    field,
    notes,
    { role: 'radiogroup', 'aria-required': field.isMarked ? 'true' : null },
    inlineLabels(controls, field),
  );
  return { node, controls, read: () => controls.find(({ checked }) => checked)?.value ?? '' };
}

function newCheckboxes(field, typed, notes) {
  const controls = field.options.map((_, index) =>
    element('input', { type: 'checkbox', value: index, checked: typed.includes(String(index)) }),
  );
  const node = framed(field, notes, {}, inlineLabels(controls, field));
  return {
    node,
    controls,
    read: () => controls.filter(({ checked }) => checked).map(({ value }) => value),
  };
}

function newCheckbox(field, typed, notes) {
  const control = element('input', {
    type: 'checkbox',
    checked: typed,
    required: field.isMarked,
    'aria-describedby': notes.ids,
  });
  const label =
    field.kind === 'tick' && !field.isAgreement
      ? `${field.label}: ${wordsFor(field.value)}`
      : field.label;
  const node = element(
    'div',
    { class: 'field' },
    inlineLabel(control, label, field.isMarked),
    ...notes.hints,
    notes.fault,
  );
  return { node, controls: [control], read: () => control.checked };
}

// A constant has nothing to fill in. It is shown because it is sent.
function newFixed({ label, value }) {
  return {
    node: element('p', { class: 'field' }, `${label}: ${wordsFor(value)}`),
    read: () => undefined,
    slots: [],
  };
}

function newGroup(field, typed) {
  const inner = field.fields.map((each) => newField(each, typed?.[each.name]));
  const read = () =>
    Object.fromEntries(inner.map((each, index) => [field.fields[index].name, each.read()]));
  const slots = inner.flatMap((each) => each.slots);
  const nodes = inner.map(({ node }) => node);
  // The form is the frame of the outermost group.
  if (field.name === null)
    return { node: element('div', { class: 'fields' }, ...nodes), read, slots };
  const notes = newNotes(field);
  const node = framed(field, notes, {}, nodes);
  const focus = () => slots[0]?.focus();
  return {
    node,
    read,
    slots: [...slots, newFaultSlot(field, { node, controls: [], focus }, notes)],
  };
}

function newNotes({ hint }) {
  const fault = element('p', { class: 'problem', id: newId(), dir: 'auto' });
  const hints =
    hint === '' ? [] : [element('p', { class: 'note', id: newId(), dir: 'auto' }, hint)];
  return { hints, fault, ids: [...hints, fault].map(({ id }) => id).join(' ') };
}

// An error of a field stays visible until the field changes.
function newFaultSlot({ pointer }, { node, controls, focus = () => controls[0]?.focus() }, notes) {
  const show = (text) => {
    setText(notes.fault, text);
    for (const control of controls) {
      if (text === '') control.removeAttribute('aria-invalid');
      else control.setAttribute('aria-invalid', 'true');
    }
  };
  node.addEventListener('input', () => show(''));
  return { pointer, show, focus };
}

function labelled(control, field, { hints, fault }) {
  const label = element(
    'label',
    { for: control.id, dir: 'auto' },
    ...labelNodes(field.label, field.isMarked),
  );
  return element('div', { class: 'field' }, label, ...hints, control, fault);
}

function framed(field, { ids, hints, fault }, attributes, nodes) {
  const legend = element('legend', { dir: 'auto' }, ...labelNodes(field.label, field.isMarked));
  return element(
    'fieldset',
    { class: 'field', 'aria-describedby': ids, ...attributes },
    legend,
    ...hints,
    ...nodes,
    fault,
  );
}

const inlineLabels = (controls, { options }) =>
  controls.map((control, index) => inlineLabel(control, options[index].label));

const inlineLabel = (control, label, isRequired = false) =>
  element(
    'label',
    { class: 'inline-label' },
    control,
    element('span', { dir: 'auto' }, ...labelNodes(label, isRequired)),
  );

// The mark is hidden from screen readers, because the control itself says that it is required.
const labelNodes = (label, isRequired) =>
  isRequired ? [label, element('span', { class: 'mark', 'aria-hidden': 'true' }, ' *')] : [label];

// The digits keyboard of some phones has no minus sign.
function digitsOf({ isInteger, minimum, exclusiveMinimum }) {
  if (!(minimum >= 0 || exclusiveMinimum >= 0)) return null;
  return isInteger ? 'numeric' : 'decimal';
}
