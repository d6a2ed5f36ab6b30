// Editing the input of a call: as fields if they can hold all of it, else as JSON. Pure.

import type { Field, Typed } from '../schema/field_types.ts';
import { answerOf } from '../schema/form_values.ts';
import { initialOf } from '../schema/initial_values.ts';
import { isEqual, isObject } from '../schema/json.ts';
import { rootField } from '../schema/schema.ts';

const POINTER = '/input';

/** A form that edits an input. */
export interface Editor {
  field: Field;
  /** The input as it is now. */
  typed: Typed;
}

/**
 * The form for an input. `resultSchema` is that of the card: it describes a decision, and in it the
 * input. Fields that would lose a part of the input are not used.
 */
export function editorOf(resultSchema: unknown, input: unknown): Editor {
  const schema = partOf(partOf(resultSchema, 'properties'), 'input');
  const described = editorWith(schema, input);
  const { value, faults } = described
    ? answerOf(described.field, described.typed)
    : { value: undefined, faults: [] };
  if (described && faults.length === 0 && isEqual(value, input)) return described;
  const plain = editorWith({ title: 'Input' }, input);
  if (!plain) throw new Error('A schema has a field.');
  return plain;
}

function editorWith(schema: unknown, input: unknown): Editor | null {
  const isDescribed = isObject(schema) && Object.keys(schema).length > 0;
  const field = isDescribed ? rootField(schema, POINTER) : null;
  if (field && asksForFile(field)) return null;
  return field && { field, typed: initialOf(field, input) };
}

// Only the answers of forms name files.
const asksForFile = (field: Field): boolean =>
  field.kind === 'group' ? field.fields.some(asksForFile) : field.kind === 'file';

const partOf = (schema: unknown, name: string): unknown =>
  isObject(schema) && Object.hasOwn(schema, name) ? schema[name] : undefined;
