// The fields of a form on the page: their labels, hints and controls, what is typed into them, and what is wrong with it.

import { element, setText } from './element.js';
import { wordsFor } from './json.js';

let lastId = 0;
/** An id that nothing else in the page has. */
export const newId = () => `field-${(lastId += 1)}`;

/**
 * A field (schema.js) with what was `typed` into it before: `{node, read, places}`. `read` tells what is typed now; `places` are those
 * where a fault can be shown, `{pointer, show, focus}`. The whole of an answer is no such place where it is a group.
 */
export function newField(field, typed = field.initial) {
  if (field.kind === 'group') return newGroup(field, typed);
  if (field.kind === 'fixed') return newFixed(field);
  const notes = newNotes(field);
  const shown = MAKERS[field.shows ?? field.kind](field, typed, notes);
  return { node: shown.node, read: shown.read, places: [newPlace(field, shown, notes)] };
}

// How each kind is shown; a choice says it itself.
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
  const shared = { id: newId(), required: field.isMarked, title: field.pattern, 'aria-describedby': notes.ids };
  const control =
    input === 'textarea' || kind === 'lines' || kind === 'json'
      ? element('textarea', { ...shared, rows: 2, class: kind, spellcheck: kind === 'json' ? 'false' : null })
      : element('input', { ...shared, type: input ?? 'text', inputmode: kind === 'number' ? digitsOf(field) : null });
  control.value = typed ?? '';
  return { node: labelled(control, field, notes), controls: [control], read: () => (control.validity.badInput ? null : control.value) };
}

function newSelect(field, typed, notes) {
  const options = field.options.map(({ label }, index) => element('option', { value: index }, label));
  const attributes = { id: newId(), required: field.isMarked, 'aria-describedby': notes.ids };
  const control = element('select', attributes, element('option', { value: '' }, '–'), ...options);
  control.value = typed;
  return { node: labelled(control, field, notes), controls: [control], read: () => control.value };
}

function newRadios(field, typed, notes) {
  const name = newId();
  const controls = field.options.map((_, index) => element('input', { type: 'radio', name, value: index, checked: typed === String(index) }));
  const node = framed(field, notes, { role: 'radiogroup', 'aria-required': field.isMarked ? 'true' : null }, besideEach(controls, field));
  return { node, controls, read: () => controls.find(({ checked }) => checked)?.value ?? '' };
}

function newCheckboxes(field, typed, notes) {
  const controls = field.options.map((_, index) => element('input', { type: 'checkbox', value: index, checked: typed.includes(String(index)) }));
  const node = framed(field, notes, {}, besideEach(controls, field));
  return { node, controls, read: () => controls.filter(({ checked }) => checked).map(({ value }) => value) };
}

function newCheckbox(field, typed, notes) {
  const control = element('input', { type: 'checkbox', checked: typed, required: field.isMarked, 'aria-describedby': notes.ids });
  const label = field.kind === 'tick' && !field.isAgreement ? `${field.label}: ${wordsFor(field.value)}` : field.label;
  const node = element('div', { class: 'field' }, beside(control, label, field.isMarked), ...notes.hints, notes.fault);
  return { node, controls: [control], read: () => control.checked };
}

// Sent without asking, but not unseen.
function newFixed({ label, value }) {
  return { node: element('p', { class: 'field' }, `${label}: ${wordsFor(value)}`), read: () => undefined, places: [] };
}

function newGroup(field, typed) {
  const inner = field.fields.map((each) => newField(each, typed?.[each.name]));
  const read = () => Object.fromEntries(inner.map((each, index) => [field.fields[index].name, each.read()]));
  const places = inner.flatMap((each) => each.places);
  const nodes = inner.map(({ node }) => node);
  // The form itself is the frame of the outermost.
  if (field.name === null) return { node: element('div', { class: 'fields' }, ...nodes), read, places };
  const notes = newNotes(field);
  const node = framed(field, notes, {}, nodes);
  const focus = () => places[0]?.focus();
  return { node, read, places: [...places, newPlace(field, { node, controls: [], focus }, notes)] };
}

function newNotes({ hint }) {
  const fault = element('p', { class: 'problem', id: newId(), dir: 'auto' });
  const hints = hint === '' ? [] : [element('p', { class: 'note', id: newId(), dir: 'auto' }, hint)];
  return { hints, fault, ids: [...hints, fault].map(({ id }) => id).join(' ') };
}

// What is wrong with a field is said beside it until it is changed.
function newPlace({ pointer }, { node, controls, focus = () => controls[0]?.focus() }, notes) {
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
  const label = element('label', { for: control.id, dir: 'auto' }, ...named(field.label, field.isMarked));
  return element('div', { class: 'field' }, label, ...hints, control, fault);
}

function framed(field, { ids, hints, fault }, attributes, nodes) {
  const legend = element('legend', { dir: 'auto' }, ...named(field.label, field.isMarked));
  return element('fieldset', { class: 'field', 'aria-describedby': ids, ...attributes }, legend, ...hints, ...nodes, fault);
}

const besideEach = (controls, { options }) => controls.map((control, index) => beside(control, options[index].label));

const beside = (control, label, isRequired = false) =>
  element('label', { class: 'beside' }, control, element('span', { dir: 'auto' }, ...named(label, isRequired)));

// Readers are told by the control itself.
const named = (label, isRequired) => (isRequired ? [label, element('span', { class: 'mark', 'aria-hidden': 'true' }, ' *')] : [label]);

// Some keyboards of phones have no minus among their digits.
function digitsOf({ isInteger, minimum, exclusiveMinimum }) {
  if (!(minimum >= 0 || exclusiveMinimum >= 0)) return null;
  return isInteger ? 'numeric' : 'decimal';
}
