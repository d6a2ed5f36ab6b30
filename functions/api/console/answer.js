// From what was typed into fields to the JSON that is sent, and from a default to what stands in a field at first. Pure.
//
// What can be told here is told before anything is sent; whether an answer fits is for the server to say.

import { isObject, isSame } from './json.js';
import { readNumber } from './numbers.js';

/** `{value, faults: [{pointer, detail}]}` of a field (schema.js) and what was typed; `value` is undefined where nothing is to be sent. */
export function answerOf(field, typed) {
  const faults = [];
  const value = valueOf(field, typed, faults);
  return { value, faults };
}

/** What stands in a field at first: its schema's default, if that is a value the field can show. */
export function initialOf(field, value) {
  switch (field.kind) {
    case 'group':
      return Object.fromEntries(field.fields.map((inner) => [inner.name, innerInitial(inner, value)]));
    case 'checkbox':
      return value === true;
    case 'tick':
      return !field.isAgreement && isSame(value, field.value);
    case 'choice':
      return indexIn(field.options, value);
    case 'choices':
      return Array.isArray(value) ? value.map((item) => indexIn(field.options, item)).filter((index) => index !== '') : [];
    case 'lines':
      return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join('\n') : '';
    case 'number':
      return typeof value === 'number' ? String(value) : '';
    case 'text':
      return typeof value === 'string' ? (field.input === 'datetime-local' ? localTime(value) : value) : '';
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2);
    default:
      return '';
  }
}

// What the default of the whole says of a part holds more than the part's own.
function innerInitial(inner, value) {
  return isObject(value) && Object.hasOwn(value, inner.name) ? initialOf(inner, value[inner.name]) : inner.initial;
}

function valueOf(field, typed, faults) {
  const refuse = (detail) => void faults.push({ pointer: field.pointer, detail });
  if (field.kind === 'fixed') return field.value;
  // An unticked box is an answer: it says no.
  if (field.kind === 'checkbox') return typed === true;
  if (isBlank(field, typed)) {
    if (!field.isRequired) return undefined;
    if (field.isNullable) return null;
    if ((field.kind === 'choices' || field.kind === 'lines') && !(field.minItems > 0)) return [];
    if (field.kind !== 'group') return refuse(field.kind === 'tick' ? 'This has to be ticked.' : 'This needs an answer.');
  }
  switch (field.kind) {
    case 'group': {
      const values = field.fields.map((inner) => [inner.name, valueOf(inner, typed?.[inner.name], faults)]);
      return Object.fromEntries(values.filter(([, value]) => value !== undefined));
    }
    case 'tick':
      return field.value;
    case 'choice':
      return field.options[typed].value;
    case 'choices':
      return counted(field, typed.map((index) => field.options[index].value), refuse);
    case 'lines':
      return counted(field, typed.split('\n').filter((line) => line.trim() !== ''), refuse);
    case 'number':
      return readNumber(field, typed.trim(), refuse);
    case 'text':
      return textOf(field, typed, refuse);
    default:
      return jsonOf(typed, refuse);
  }
}

function isBlank(field, typed) {
  if (field.kind === 'group') return field.fields.every((inner) => isBlank(inner, typed?.[inner.name]));
  if (field.kind === 'fixed' || typed === undefined) return true;
  return typed === false || (typeof typed === 'string' && typed.trim() === '') || (Array.isArray(typed) && typed.length === 0);
}

function counted({ minItems, maxItems }, items, refuse) {
  if (items.length < minItems) return refuse(`At least ${minItems} are needed.`);
  if (items.length > maxItems) return refuse(`At most ${maxItems} are possible.`);
  return items;
}

function textOf({ input, minLength, maxLength, pattern, meaning }, typed, refuse) {
  // A half chosen date has no value of its own.
  if (typed === null) return refuse('This is not complete.');
  const value = input === 'datetime-local' ? new Date(typed).toISOString() : typed;
  const length = [...value].length; // a schema counts characters, not UTF-16 units
  if (length < minLength) return refuse(`At least ${minLength} characters are needed, these are ${length}.`);
  if (length > maxLength) return refuse(`At most ${maxLength} characters are possible, these are ${length}.`);
  if (pattern !== undefined && !fits(value, pattern)) return refuse(`This does not have the expected form${meaning ? `: ${meaning}` : '.'}`);
  return value;
}

function fits(value, pattern) {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true; // in a dialect that only the server reads
  }
}

function jsonOf(typed, refuse) {
  try {
    return JSON.parse(typed);
  } catch (error) {
    return refuse(`This is not JSON: ${error.message}`);
  }
}

// As an input of the type `datetime-local` holds it.
function localTime(text) {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return '';
  const [year, ...rest] = [at.getFullYear(), at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes()];
  const [month, day, hours, minutes] = rest.map((part) => String(part).padStart(2, '0'));
  return `${String(year).padStart(4, '0')}-${month}-${day}T${hours}:${minutes}`;
}

function indexIn(options, value) {
  const index = options.findIndex((option) => isSame(option.value, value));
  return index < 0 ? '' : String(index);
}
