// Converts a JSON Schema to a description of form fields. Pure.

import type {
  Described,
  Field,
  FileShape,
  FixedShape,
  NumberShape,
  Shape,
  TextShape,
  TickShape,
} from './field_types.ts';
import { initialOf } from './initial_values.ts';
import { isObject, labelOf } from './json.ts';
import { limitsOf } from './limits.ts';

const LONG_CHARS = 120; // A text that may be longer gets several lines.
const MOST_RADIOS = 5;
// No field can show alternatives, or a schema that is defined elsewhere.
const COMBINED = ['$ref', '$dynamicRef', 'oneOf', 'anyOf', 'allOf'];
const YES_OR_NO = [
  { value: true, label: 'yes' },
  { value: false, label: 'no' },
];
const INPUTS = new Map<unknown, TextShape['input']>([
  ['date', 'date'],
  ['date-time', 'datetime-local'],
  ['email', 'email'],
  ['uri', 'url'],
]);

/** The pointer of the whole answer in the request body. */
const ROOT_POINTER = '/output';

// Schemas come from agents and operators, so any keyword may have any type.
type Schema = Record<string, unknown>;

/** The position of a field. `isInOptional`: it is in a group that may be left out. */
interface FieldPosition {
  name: string | null;
  pointer: string;
  isRequired: boolean;
  isInOptional: boolean;
}

/**
 * The field for a whole answer, which is a group if the answer is an object. Null without a schema.
 * `pointer` is that of the value in the request's body.
 */
export function rootField(schema: unknown, pointer = ROOT_POINTER): Field | null {
  if (schema === null || schema === undefined) return null;
  const place = { name: null, pointer, isRequired: true, isInOptional: false };
  return fieldOf(schema, place);
}

function fieldOf(source: unknown, place: FieldPosition): Field {
  const schema = isObject(source) ? source : {};
  const { name, pointer, isRequired, isInOptional } = place;
  const types = typesOf(schema);
  const shape = shapeOf(
    schema,
    types.filter((type) => type !== 'null'),
    place,
  );
  const isNullable =
    types.includes('null') || (Array.isArray(schema.enum) && schema.enum.includes(null));
  const isNeeded = isRequired && !isNullable && needsAnswer(shape);
  const hints = [
    textOf(schema.description),
    limitsOf(shape),
    isNeeded && isInOptional && 'required if you fill in this part',
  ];
  const described: Described = {
    name,
    pointer,
    label: textOf(schema.title) ?? (name || 'Answer'),
    isRequired,
    isNullable,
    isMarked: isNeeded && !isInOptional,
    hint: hints.filter(Boolean).join(' · '),
    initial: initialOf(shape, schema.default),
  };
  return { ...described, ...shape };
}

function shapeOf(
  schema: Schema,
  types: readonly unknown[],
  place: Omit<FieldPosition, 'name'>,
): Shape {
  const { pointer, isRequired, isInOptional } = place;
  if (COMBINED.some((word) => Object.hasOwn(schema, word))) return { kind: 'json' };
  if (Object.hasOwn(schema, 'const')) return constant(schema.const, isRequired);
  if (Array.isArray(schema.enum)) return choice(schema.enum, isRequired && !isInOptional);
  if (types.length > 1) return { kind: 'json' };
  switch (types[0] ?? (isObject(schema.properties) ? 'object' : 'any')) {
    case 'string':
      return schema.format === 'attachment' ? file(schema) : text(schema);
    case 'integer':
      return number(schema, true);
    case 'number':
      return number(schema, false);
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
function constant(value: unknown, isRequired: boolean): FixedShape | TickShape {
  if (isRequired && value !== true) return { kind: 'fixed', value };
  return { kind: 'tick', value, isAgreement: value === true };
}

function choice(values: readonly unknown[], isRequired: boolean): Shape {
  const options = values
    .filter((value) => value !== null)
    .map((value) => ({ value, label: labelOf(value) }));
  if (options.length === 0) return { kind: 'json' };
  // A radio button can't be deselected, so an optional choice is a list with an empty line.
  const isShort = options.length <= MOST_RADIOS && options.length === values.length;
  return { kind: 'choice', shows: isRequired && isShort ? 'radios' : 'select', options };
}

function text(schema: Schema): TextShape {
  const { format, pattern, description, default: initial } = schema;
  const maxLength = numberOf(schema.maxLength);
  const isLong =
    (maxLength ?? 0) > LONG_CHARS ||
    (typeof initial === 'string' && (initial.length > LONG_CHARS || initial.includes('\n')));
  return {
    kind: 'text',
    input: INPUTS.get(format) ?? (isLong ? 'textarea' : 'text'),
    minLength: numberOf(schema.minLength),
    maxLength,
    pattern: textOf(pattern),
    meaning: textOf(description),
  };
}

const file = ({ contentTypes, maxBytes }: Schema): FileShape => ({
  kind: 'file',
  isList: false,
  contentTypes: Array.isArray(contentTypes)
    ? contentTypes.filter((type) => typeof type === 'string')
    : [],
  maxBytes: numberOf(maxBytes),
  minItems: undefined,
  maxItems: undefined,
});

const number = (schema: Schema, isInteger: boolean): NumberShape => ({
  kind: 'number',
  isInteger,
  minimum: numberOf(schema.minimum),
  maximum: numberOf(schema.maximum),
  exclusiveMinimum: numberOf(schema.exclusiveMinimum),
  exclusiveMaximum: numberOf(schema.exclusiveMaximum),
  multipleOf: numberOf(schema.multipleOf),
});

function list({ items, minItems, maxItems, prefixItems }: Schema): Shape {
  const count = { minItems: numberOf(minItems), maxItems: numberOf(maxItems) };
  if (prefixItems !== undefined || !isObject(items)) return { kind: 'json' };
  const place = { pointer: '', isRequired: true, isInOptional: false };
  const item = shapeOf(items, typesOf(items), place);
  if (item.kind === 'choice') return { kind: 'choices', options: item.options, ...count };
  if (item.kind === 'text') return { kind: 'lines', ...count };
  if (item.kind === 'file') return { ...item, isList: true, ...count };
  return { kind: 'json' };
}

function group(schema: Schema, pointer: string, isInOptional: boolean): Shape {
  const { properties, required, additionalProperties } = schema;
  const known = isObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const names: string[] = [...new Set([...Object.keys(known), ...needed])];
  if (names.length === 0 && additionalProperties !== false) return { kind: 'json' };
  const schemaOf = (name: string) => (Object.hasOwn(known, name) ? known[name] : true);
  const placeOf = (name: string): FieldPosition => ({
    name,
    pointer: `${pointer}/${escaped(name)}`,
    isRequired: needed.includes(name),
    isInOptional,
  });
  return { kind: 'group', fields: names.map((name) => fieldOf(schemaOf(name), placeOf(name))) };
}

// An empty list and an unticked checkbox can be sent without an answer.
function needsAnswer(shape: Shape): boolean {
  if (shape.kind === 'group' || shape.kind === 'checkbox') return false;
  const isList = shape.kind === 'lines' || shape.kind === 'choices';
  if (!isList && !(shape.kind === 'file' && shape.isList)) return true;
  return (shape.minItems ?? 0) > 0;
}

const typesOf = ({ type }: Schema): unknown[] => [type ?? []].flat();
const isNullable = (schema: Schema): boolean => typesOf(schema).includes('null');
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;
/** The name of a member as a part of a JSON pointer. */
export const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
