// Converts a JSON Schema to a description of form fields. Pure.
//
// A field has a `kind`, the `pointer` of its value in the request body, a `label`, a `hint`,
// `isRequired`, `isNullable`, `isMarked` (nothing can be sent without it), and what its kind needs.
// `initial` is its first value as a person would type it: a text, a boolean, the index of an
// option, a list of indexes, or for a group an object of these by name.

import { initialOf } from './form_values.js';
import { isObject, labelOf } from './json.js';

const LONG_CHARS = 120; // A text that may be longer gets several lines.
const MOST_RADIOS = 5;
// No field can show alternatives, or a schema that is defined elsewhere.
const COMBINED = ['$ref', '$dynamicRef', 'oneOf', 'anyOf', 'allOf'];
const YES_OR_NO = [
  { value: true, label: 'yes' },
  { value: false, label: 'no' },
];
const INPUTS = { date: 'date', 'date-time': 'datetime-local', email: 'email', uri: 'url' };

/** The pointer of the whole answer in the request body. */
export const ROOT_POINTER = '/output';

/**
 * The field for a whole answer, which is a group if the answer is an object. Null without a schema.
 */
export function rootField(schema) {
  if (schema === null || schema === undefined) return null;
  return fieldOf(schema, {
    name: null,
    pointer: ROOT_POINTER,
    isRequired: true,
    isInOptional: false,
  });
}

// `isInOptional`: the field is in a group that may be left out.
function fieldOf(source, { name, pointer, isRequired, isInOptional }) {
  const schema = isObject(source) ? source : {};
  const types = [schema.type ?? []].flat();
  const shape = shapeOf(
    schema,
    types.filter((type) => type !== 'null'),
    { pointer, isRequired, isInOptional },
  );
  const described = {
    name,
    pointer,
    label: textOf(schema.title) ?? (name || 'Answer'),
    isRequired,
    isNullable:
      types.includes('null') || (Array.isArray(schema.enum) && schema.enum.includes(null)),
    ...shape,
  };
  const isNeeded = needsAnswer(described);
  const hints = [
    textOf(schema.description),
    limitsOf(shape),
    isNeeded && isInOptional && 'required if you fill in this part',
  ];
  const field = {
    ...described,
    isMarked: isNeeded && !isInOptional,
    hint: hints.filter(Boolean).join(' · '),
  };
  return { ...field, initial: initialOf(field, schema.default) };
}

function shapeOf(schema, types, { pointer, isRequired, isInOptional }) {
  if (COMBINED.some((word) => Object.hasOwn(schema, word))) return { kind: 'json' };
  if (Object.hasOwn(schema, 'const')) return constant(schema.const, isRequired);
  if (Array.isArray(schema.enum)) return choice(schema.enum, isRequired && !isInOptional);
  if (types.length > 1) return { kind: 'json' };
  switch (types[0] ?? (isObject(schema.properties) ? 'object' : 'any')) {
    case 'string':
      return text(schema);
    case 'integer':
    case 'number':
      return number(schema, types[0]);
    case 'boolean':
      return isNullable(schema)
        ? { kind: 'choice', shows: 'select', options: YES_OR_NO }
        : { kind: 'checkbox' };
    case 'array':
      return list(schema);
    case 'object':
      return group(schema, pointer, isInOptional || !isRequired || isNullable(schema));
    default:
      return { kind: 'json' };
  }
}

// Agreement needs an action: a constant `true` is a checkbox that a person must tick.
function constant(value, isRequired) {
  if (isRequired && value !== true) return { kind: 'fixed', value };
  return { kind: 'tick', value, isAgreement: value === true };
}

function choice(values, isRequired) {
  const options = values
    .filter((value) => value !== null)
    .map((value) => ({ value, label: labelOf(value) }));
  if (options.length === 0) return { kind: 'json' };
  // A radio button can't be deselected, so an optional choice is a list with an empty line.
  const isShort = options.length <= MOST_RADIOS && options.length === values.length;
  return { kind: 'choice', shows: isRequired && isShort ? 'radios' : 'select', options };
}

function text({ format, minLength, maxLength, pattern, description, default: initial }) {
  const isLong =
    maxLength > LONG_CHARS ||
    (typeof initial === 'string' && (initial.length > LONG_CHARS || initial.includes('\n')));
  const input = INPUTS[format] ?? (isLong ? 'textarea' : 'text');
  const limits = {
    minLength: numberOf(minLength),
    maxLength: numberOf(maxLength),
    pattern: textOf(pattern),
  };
  return { kind: 'text', input, ...limits, meaning: textOf(description) };
}

function number({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }, type) {
  const limits = Object.entries({
    minimum,
    maximum,
    exclusiveMinimum,
    exclusiveMaximum,
    multipleOf,
  });
  return {
    kind: 'number',
    isInteger: type === 'integer',
    ...Object.fromEntries(limits.map(([name, limit]) => [name, numberOf(limit)])),
  };
}

function list({ items, minItems, maxItems, prefixItems }) {
  const count = { minItems: numberOf(minItems), maxItems: numberOf(maxItems) };
  if (prefixItems !== undefined || !isObject(items)) return { kind: 'json' };
  const item = shapeOf(items, [items.type ?? []].flat(), {
    pointer: '',
    isRequired: true,
    isInOptional: false,
  });
  if (item.kind === 'choice') return { kind: 'choices', options: item.options, ...count };
  if (item.kind === 'text') return { kind: 'lines', ...count };
  return { kind: 'json' };
}

function group({ properties, required, additionalProperties }, pointer, isInOptional) {
  const known = isObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const names = [...new Set([...Object.keys(known), ...needed])];
  if (names.length === 0 && additionalProperties !== false) return { kind: 'json' };
  const schemaOf = (name) => (Object.hasOwn(known, name) ? known[name] : true);
  const placeOf = (name) => ({
    name,
    pointer: `${pointer}/${escaped(name)}`,
    isRequired: needed.includes(name),
    isInOptional,
  });
  return { kind: 'group', fields: names.map((name) => fieldOf(schemaOf(name), placeOf(name))) };
}

// An empty list, an unticked checkbox and null can be sent without an answer.
function needsAnswer({ kind, isRequired, isNullable, minItems }) {
  if (!isRequired || isNullable || kind === 'group' || kind === 'checkbox') return false;
  return (kind !== 'lines' && kind !== 'choices') || minItems > 0;
}

// The limits that a person must know before typing.
function limitsOf(field) {
  if (field.kind === 'json') return 'as JSON';
  if (field.kind === 'lines')
    return joined('one per line', rangeOf(field.minItems, field.maxItems));
  if (field.kind === 'choices') return rangeOf(field.minItems, field.maxItems);
  if (field.kind === 'text') {
    const range = rangeOf(field.minLength, field.maxLength);
    return joined(
      field.input === 'datetime-local' ? 'in your time zone' : '',
      range && `${range} characters`,
    );
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
  if (least !== undefined && most !== undefined)
    return least === most ? `exactly ${least}` : `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? '' : `at most ${most}`;
}

const joined = (...texts) => texts.filter(Boolean).join(', ');
const isNullable = ({ type }) => [type].flat().includes('null');
const textOf = (value) => (typeof value === 'string' && value !== '' ? value : undefined);
const numberOf = (value) => (typeof value === 'number' ? value : undefined);
const escaped = (name) => name.replaceAll('~', '~0').replaceAll('/', '~1');
