// Converts typed values to the JSON that is sent, and defaults to initial values. Pure. It finds
// what it can before sending; the server validates the answer.

import { isObject, isSame } from './json.js';
import { readNumber } from './numbers.js';

/**
 * Returns `{value, faults: [{pointer, detail}]}` for a field (see schema.js). `value` is undefined
 * if nothing is sent.
 */
export function answerOf(field, typed) {
  const faults = [];
  const value = readValue(field, typed, faults);
  return { value, faults };
}

/** The initial value of a field: the default of its schema, if the field can show it. */
export function initialOf(field, value) {
  switch (field.kind) {
    case 'group':
      return Object.fromEntries(
        field.fields.map((inner) => [inner.name, initialOfPart(inner, value)]),
      );
    case 'checkbox':
      return value === true;
    case 'tick':
      return !field.isAgreement && isSame(value, field.value);
    case 'choice':
      return indexIn(field.options, value);
    case 'choices':
      return Array.isArray(value)
        ? value.map((item) => indexIn(field.options, item)).filter((index) => index !== '')
        : [];
    case 'lines':
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
        ? value.join('\n')
        : '';
    case 'number':
      return typeof value === 'number' ? String(value) : '';
    case 'text':
      return typeof value === 'string'
        ? field.input === 'datetime-local'
          ? localTime(value)
          : value
        : '';
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2);
    default:
      return '';
  }
}

// The default of the group overrides the default of its part.
function initialOfPart(inner, value) {
  return isObject(value) && Object.hasOwn(value, inner.name)
    ? initialOf(inner, value[inner.name])
    : inner.initial;
}

function readValue(field, typed, faults) {
  const refuse = (detail) => void faults.push({ pointer: field.pointer, detail });
  if (field.kind === 'fixed') return field.value;
  // An unticked checkbox is an answer: false.
  if (field.kind === 'checkbox') return typed === true;
  if (isBlank(field, typed)) {
    if (!field.isRequired) return undefined;
    if (field.isNullable) return null;
    if ((field.kind === 'choices' || field.kind === 'lines') && !(field.minItems > 0)) return [];
    if (field.kind !== 'group')
      return refuse(field.kind === 'tick' ? 'Tick this box.' : 'This needs an answer.');
  }
  switch (field.kind) {
    case 'group': {
      const values = field.fields.map((inner) => [
        inner.name,
        readValue(inner, typed?.[inner.name], faults),
      ]);
      return Object.fromEntries(values.filter(([, value]) => value !== undefined));
    }
    case 'tick':
      return field.value;
    case 'choice':
      return field.options[typed].value;
    case 'choices':
      return checkCount(
        field,
        typed.map((index) => field.options[index].value),
        refuse,
      );
    case 'lines':
      return checkCount(
        field,
        typed.split('\n').filter((line) => line.trim() !== ''),
        refuse,
      );
    case 'number':
      return readNumber(field, typed.trim(), refuse);
    case 'text':
      return readText(field, typed, refuse);
    default:
      return readJson(typed, refuse);
  }
}

function isBlank(field, typed) {
  if (field.kind === 'group')
    return field.fields.every((inner) => isBlank(inner, typed?.[inner.name]));
  if (field.kind === 'fixed' || typed === undefined) return true;
  return (
    typed === false ||
    (typeof typed === 'string' && typed.trim() === '') ||
    (Array.isArray(typed) && typed.length === 0)
  );
}

function checkCount({ minItems, maxItems }, items, refuse) {
  if (items.length < minItems) return refuse(`At least ${minItems} are required.`);
  if (items.length > maxItems) return refuse(`At most ${maxItems} are allowed.`);
  return items;
}

function readText({ input, minLength, maxLength, pattern, meaning }, typed, refuse) {
  // A partly entered date has no value.
  if (typed === null) return refuse('This is incomplete.');
  const value = input === 'datetime-local' ? new Date(typed).toISOString() : typed;
  const length = [...value].length; // JSON Schema counts characters, not UTF-16 code units.
  if (length < minLength)
    return refuse(`Enter at least ${minLength} characters; this text has ${length}.`);
  if (length > maxLength)
    return refuse(`Enter at most ${maxLength} characters; this text has ${length}.`);
  if (pattern !== undefined && !matches(value, pattern))
    return refuse(`This does not have the expected form${meaning ? `: ${meaning}` : '.'}`);
  return value;
}

function matches(value, pattern) {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true; // The regular expression has a syntax that only the server understands.
  }
}

function readJson(typed, refuse) {
  try {
    return JSON.parse(typed);
  } catch (error) {
    return refuse(`This is not JSON: ${error.message}`);
  }
}

// The format of an input of type `datetime-local`.
function localTime(text) {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return '';
  const [year, ...rest] = [
    at.getFullYear(),
    at.getMonth() + 1,
    at.getDate(),
    at.getHours(),
    at.getMinutes(),
  ];
  const [month, day, hours, minutes] = rest.map((part) => String(part).padStart(2, '0'));
  return `${String(year).padStart(4, '0')}-${month}-${day}T${hours}:${minutes}`;
}

function indexIn(options, value) {
  const index = options.findIndex((option) => isSame(option.value, value));
  return index < 0 ? '' : String(index);
}
