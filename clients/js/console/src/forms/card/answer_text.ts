// Shows the answer to a form as labels and texts. The labels are those of the form. Pure.

import { isolated, shortened } from '../../ui/visible.ts';
import { isObject, labelOf, wordsFor } from '../schema/json.ts';

const LONGEST_CHARS = 200;

/** A value with its label. */
export type Pair = readonly [label: string, text: string];

/** The names of files by their ids. */
export type FileNames = ReadonlyMap<unknown, string>;

/**
 * The parts of an answer. An answer without parts has the label ''. Long texts are shortened, and
 * files are shown by their names.
 */
export function answerPairs(answer: unknown, schema: unknown, files?: FileNames): Pair[] {
  if (answer === null || answer === undefined) return [];
  const output = files && files.size > 0 ? withNames(answer, schema, files) : answer;
  const pairs: Pair[] =
    isObject(output) && !isOption(output, schema)
      ? pairsOf(output, schema)
      : [['', wordsOf(output, schema)]];
  return pairs.map(([label, text]) => [label, shortened(text, LONGEST_CHARS)]);
}

// An id stays what it is in a field that asks for no file.
function withNames(value: unknown, schema: unknown, files: FileNames): unknown {
  if (typeof value === 'string')
    return partOf(schema, 'format') === 'attachment' ? (files.get(value) ?? value) : value;
  if (Array.isArray(value))
    return value.map((item) => withNames(item, partOf(schema, 'items'), files));
  if (!isObject(value) || isOption(value, schema)) return value;
  const members = Object.entries(value).map(([name, each]) => [
    name,
    withNames(each, partOf(partOf(schema, 'properties'), name), files),
  ]);
  return Object.fromEntries(members);
}

const pairsOf = (values: Record<string, unknown>, schema: unknown): Pair[] =>
  Object.entries(values).map(([name, value]) => {
    const described = partOf(partOf(schema, 'properties'), name);
    const title = partOf(described, 'title');
    return [typeof title === 'string' && title !== '' ? title : name, wordsOf(value, described)];
  });

function wordsOf(value: unknown, schema: unknown): string {
  if (value === null || value === '') return '–';
  if (isOption(value, schema)) return labelOf(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return listWords(value, partOf(schema, 'items'));
  if (isObject(value))
    return (
      pairsOf(value, schema)
        .map((pair) => pair.map(isolated).join(': '))
        .join(', ') || '–'
    );
  return isMoment(value, schema) ? momentText(value) : wordsFor(value);
}

const listWords = (items: readonly unknown[], schema: unknown): string =>
  items.map((item) => isolated(wordsOf(item, schema))).join(items.some(isObject) ? '; ' : ', ') ||
  '–';

// An option of an enum, which the form showed by its label.
const isOption = (value: unknown, schema: unknown): boolean =>
  isObject(value) && Array.isArray(partOf(schema, 'enum'));

// The form asked for it in the browser's time zone, so it is shown in that time zone.
const isMoment = (value: unknown, schema: unknown): value is string =>
  typeof value === 'string' &&
  partOf(schema, 'format') === 'date-time' &&
  !Number.isNaN(Date.parse(value));
const momentText = (value: string): string =>
  new Date(value).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });

// Schemas come from agents and operators, so any keyword may have any type.
const partOf = (schema: unknown, name: string): unknown =>
  isObject(schema) && Object.hasOwn(schema, name) ? schema[name] : undefined;
