// What a form asks: from a JSON Schema to a description of fields. Pure.
//
// A field has a `kind`, the `pointer` of its value in the body that is sent, a `label`, a `hint`, `isRequired`, `isNullable`, `isMarked`
// where nothing can be sent without it, and what its kind needs. `initial` is what stands in it at first, as a person types it: a text, a
// tick, the index of an option, a list of such, or for a group these by name.

import { initialOf } from './answer.js';
import { isObject, labelOf } from './json.js';

const LONG_CHARS = 120; // what may be longer gets several lines
const MOST_RADIOS = 5;
// These say that a value is of one shape or another, or stand elsewhere: no field can show that.
const COMBINED = ['$ref', '$dynamicRef', 'oneOf', 'anyOf', 'allOf'];
const YES_OR_NO = [{ value: true, label: 'yes' }, { value: false, label: 'no' }];
const INPUTS = { date: 'date', 'date-time': 'datetime-local', email: 'email', uri: 'url' };

/** Where the answer stands in the body that is sent. */
export const WHOLE = '/output';

/** The field that stands for a whole answer, a group where it is an object; null without a schema. */
export function fieldsOf(schema) {
  if (schema === null || schema === undefined) return null;
  return fieldOf(schema, { name: null, pointer: WHOLE, isRequired: true, isSpared: false });
}

// What is spared lies in a part of the answer that may be left out as a whole.
function fieldOf(given, { name, pointer, isRequired, isSpared }) {
  const schema = isObject(given) ? given : {};
  const types = [schema.type ?? []].flat();
  const shape = shapeOf(schema, types.filter((type) => type !== 'null'), { pointer, isRequired, isSpared });
  const described = {
    name,
    pointer,
    label: textOf(schema.title) ?? (name || 'Answer'),
    isRequired,
    isNullable: types.includes('null') || (Array.isArray(schema.enum) && schema.enum.includes(null)),
    ...shape,
  };
  const isNeeded = needsAnswer(described);
  const hints = [textOf(schema.description), limitsOf(shape), isNeeded && isSpared && 'needed if you fill in this part'];
  const field = { ...described, isMarked: isNeeded && !isSpared, hint: hints.filter(Boolean).join(' · ') };
  return { ...field, initial: initialOf(field, schema.default) };
}

function shapeOf(schema, types, { pointer, isRequired, isSpared }) {
  if (COMBINED.some((word) => Object.hasOwn(schema, word))) return { kind: 'json' };
  if (Object.hasOwn(schema, 'const')) return constant(schema.const, isRequired);
  if (Array.isArray(schema.enum)) return choice(schema.enum, isRequired && !isSpared);
  if (types.length > 1) return { kind: 'json' };
  switch (types[0] ?? (isObject(schema.properties) ? 'object' : 'any')) {
    case 'string':
      return text(schema);
    case 'integer':
    case 'number':
      return number(schema, types[0]);
    case 'boolean':
      return isNullable(schema) ? { kind: 'choice', shows: 'select', options: YES_OR_NO } : { kind: 'checkbox' };
    case 'array':
      return list(schema);
    case 'object':
      return group(schema, pointer, isSpared || !isRequired || isNullable(schema));
    default:
      return { kind: 'json' };
  }
}

// Nobody agrees by not being asked: what must be `true` is ticked by hand.
function constant(value, isRequired) {
  if (isRequired && value !== true) return { kind: 'fixed', value };
  return { kind: 'tick', value, isAgreement: value === true };
}

function choice(values, isRequired) {
  const options = values.filter((value) => value !== null).map((value) => ({ value, label: labelOf(value) }));
  if (options.length === 0) return { kind: 'json' };
  // A radio can't be taken back, so what may be left out is a list with an empty line.
  const isShort = options.length <= MOST_RADIOS && options.length === values.length;
  return { kind: 'choice', shows: isRequired && isShort ? 'radios' : 'select', options };
}

function text({ format, minLength, maxLength, pattern, description, default: initial }) {
  const isLong = maxLength > LONG_CHARS || (typeof initial === 'string' && (initial.length > LONG_CHARS || initial.includes('\n')));
  const input = INPUTS[format] ?? (isLong ? 'textarea' : 'text');
  const limits = { minLength: numberOf(minLength), maxLength: numberOf(maxLength), pattern: textOf(pattern) };
  return { kind: 'text', input, ...limits, meaning: textOf(description) };
}

function number({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }, type) {
  const limits = Object.entries({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf });
  return { kind: 'number', isInteger: type === 'integer', ...Object.fromEntries(limits.map(([name, limit]) => [name, numberOf(limit)])) };
}

function list({ items, minItems, maxItems, prefixItems }) {
  const count = { minItems: numberOf(minItems), maxItems: numberOf(maxItems) };
  if (prefixItems !== undefined || !isObject(items)) return { kind: 'json' };
  const item = shapeOf(items, [items.type ?? []].flat(), { pointer: '', isRequired: true, isSpared: false });
  if (item.kind === 'choice') return { kind: 'choices', options: item.options, ...count };
  if (item.kind === 'text') return { kind: 'lines', ...count };
  return { kind: 'json' };
}

function group({ properties, required, additionalProperties }, pointer, isSpared) {
  const known = isObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const names = [...new Set([...Object.keys(known), ...needed])];
  if (names.length === 0 && additionalProperties !== false) return { kind: 'json' };
  const schemaOf = (name) => (Object.hasOwn(known, name) ? known[name] : true);
  const placeOf = (name) => ({ name, pointer: `${pointer}/${escaped(name)}`, isRequired: needed.includes(name), isSpared });
  return { kind: 'group', fields: names.map((name) => fieldOf(schemaOf(name), placeOf(name))) };
}

// An empty list can be sent, a box says no, and null stands for what is empty.
function needsAnswer({ kind, isRequired, isNullable, minItems }) {
  if (!isRequired || isNullable || kind === 'group' || kind === 'checkbox') return false;
  return (kind !== 'lines' && kind !== 'choices') || minItems > 0;
}

// What a person has to know before typing.
function limitsOf(field) {
  if (field.kind === 'json') return 'as JSON';
  if (field.kind === 'lines') return joined('one on each line', rangeOf(field.minItems, field.maxItems));
  if (field.kind === 'choices') return rangeOf(field.minItems, field.maxItems);
  if (field.kind === 'text') {
    const range = rangeOf(field.minLength, field.maxLength);
    return joined(field.input === 'datetime-local' ? 'in your time zone' : '', range && `${range} characters`);
  }
  if (field.kind !== 'number') return '';
  const { isInteger, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field;
  return joined(
    isInteger ? 'a whole number' : '',
    rangeOf(minimum, maximum),
    exclusiveMinimum === undefined ? '' : `more than ${exclusiveMinimum}`,
    exclusiveMaximum === undefined ? '' : `less than ${exclusiveMaximum}`,
    multipleOf === undefined ? '' : `in steps of ${multipleOf}`,
  );
}

function rangeOf(least, most) {
  if (least !== undefined && most !== undefined) return least === most ? `exactly ${least}` : `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? '' : `at most ${most}`;
}

const joined = (...texts) => texts.filter(Boolean).join(', ');
const isNullable = ({ type }) => [type].flat().includes('null');
const textOf = (value) => (typeof value === 'string' && value !== '' ? value : undefined);
const numberOf = (value) => (typeof value === 'number' ? value : undefined);
const escaped = (name) => name.replaceAll('~', '~0').replaceAll('/', '~1');
