// Converts typed values to the JSON that is sent. Pure. It finds some errors before sending;
// the server validates the answer.

import type {
  Count,
  Fault,
  Field,
  FileShape,
  TextShape,
  Typed,
  TypedGroup,
} from './field_types.ts';
import { readNumber, type Refuse } from './numbers.ts';

/** The JSON of a field, or the errors in it. `value` is undefined if nothing is sent. */
export function answerOf(field: Field, typed: Typed): { value: unknown; faults: Fault[] } {
  const faults: Fault[] = [];
  const value = readValue(field, typed, faults);
  return { value, faults };
}

/** The typed value of one field of a group. */
export const partOf = (typed: Typed, name: string | null): Typed =>
  name === null ? undefined : (typed as TypedGroup | null | undefined)?.[name];

function readValue(field: Field, typed: Typed, faults: Fault[]): unknown {
  const refuse: Refuse = (detail) => void faults.push({ pointer: field.pointer, detail });
  if (field.kind === 'fixed') return field.value;
  // An unticked checkbox is an answer: false.
  if (field.kind === 'checkbox') return typed === true;
  if (isBlank(field, typed)) {
    if (!field.isRequired) return undefined;
    if (field.isNullable) return null;
    if (isList(field) && !((field.minItems ?? 0) > 0)) return [];
    if (field.kind !== 'group') return refuse(MISSING[field.kind] ?? 'This needs an answer.');
  }
  // A kind has one type of typed values.
  switch (field.kind) {
    case 'group': {
      const values = field.fields.map(
        (inner) => [inner.name, readValue(inner, partOf(typed, inner.name), faults)] as const,
      );
      return Object.fromEntries(values.filter(([, value]) => value !== undefined));
    }
    case 'tick':
      return field.value;
    case 'choice':
      return field.options[Number(typed)]?.value;
    case 'choices':
      return checkCount(
        field,
        (typed as string[]).map((index) => field.options[Number(index)]?.value),
        refuse,
      );
    case 'file':
      return readFiles(field, typed as readonly string[] | null, refuse);
    case 'lines':
      return checkCount(
        field,
        (typed as string).split('\n').filter((line) => line.trim() !== ''),
        refuse,
      );
    case 'number':
      return readNumber(field, (typed as string).trim(), refuse);
    case 'text':
      return readText(field, typed as string | null, refuse);
    default:
      return readJson(typed as string, refuse);
  }
}

const MISSING: Partial<Record<Field['kind'], string>> = {
  tick: 'Tick this box.',
  file: 'This needs a file.',
};

const isList = (field: Field): field is Field & Count =>
  field.kind === 'choices' || field.kind === 'lines' || (field.kind === 'file' && field.isList);

// Null: a file is not uploaded.
function readFiles(field: FileShape, typed: readonly string[] | null, refuse: Refuse): unknown {
  if (typed === null) return refuse('Wait for the upload, repeat it, or remove the file.');
  return field.isList ? checkCount(field, [...typed], refuse) : typed[0];
}

function isBlank(field: Field, typed: Typed): boolean {
  if (field.kind === 'group')
    return field.fields.every((inner) => isBlank(inner, partOf(typed, inner.name)));
  if (field.kind === 'fixed' || typed === undefined) return true;
  return (
    typed === false ||
    (typeof typed === 'string' && typed.trim() === '') ||
    (Array.isArray(typed) && typed.length === 0)
  );
}

function checkCount<T>({ minItems, maxItems }: Count, items: T[], refuse: Refuse): T[] | undefined {
  if (minItems !== undefined && items.length < minItems)
    return refuse(`At least ${minItems} are required.`);
  if (maxItems !== undefined && items.length > maxItems)
    return refuse(`At most ${maxItems} are allowed.`);
  return items;
}

function readText(field: TextShape, typed: string | null, refuse: Refuse): string | undefined {
  const { input, minLength, maxLength, pattern, meaning } = field;
  // A partly entered date has no value.
  if (typed === null) return refuse('This is incomplete.');
  const value = input === 'datetime-local' ? new Date(typed).toISOString() : typed;
  const length = [...value].length; // JSON Schema counts characters, not UTF-16 code units.
  if (minLength !== undefined && length < minLength)
    return refuse(`Enter at least ${minLength} characters; this text has ${length}.`);
  if (maxLength !== undefined && length > maxLength)
    return refuse(`Enter at most ${maxLength} characters; this text has ${length}.`);
  if (pattern !== undefined && !matches(value, pattern))
    return refuse(`This does not have the expected form${meaning ? `: ${meaning}` : '.'}`);
  return value;
}

function matches(value: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true; // The regular expression has a syntax that only the server understands.
  }
}

function readJson(typed: string, refuse: Refuse): unknown {
  try {
    return JSON.parse(typed);
  } catch (error) {
    return refuse(`This is not JSON: ${(error as Error).message}`);
  }
}
