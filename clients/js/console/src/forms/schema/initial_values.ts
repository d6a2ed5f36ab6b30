// The first values of a form, from the defaults of its schema. Pure.

import type { Field, GroupShape, Option, Shape, Typed } from './field_types.ts';
import { isObject, isSame } from './json.ts';

/** The initial value of a field: the default of its schema, if the field can show it. */
export function initialOf(field: Shape, value: unknown): Typed {
  switch (field.kind) {
    case 'group':
      return initialOfGroup(field, value);
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
    case 'file':
      return []; // A default could only be a file of somebody else.
    case 'lines':
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
        ? value.join('\n')
        : '';
    case 'number':
      return typeof value === 'number' ? String(value) : '';
    case 'text':
      if (typeof value !== 'string') return '';
      return field.input === 'datetime-local' ? localTime(value) : value;
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2);
    default:
      return '';
  }
}

const initialOfGroup = ({ fields }: GroupShape, value: unknown): Typed =>
  Object.fromEntries(fields.map((inner) => [inner.name, initialOfPart(inner, value)]));

// The default of the group overrides the default of its part.
function initialOfPart(inner: Field, value: unknown): Typed {
  const { name, initial } = inner;
  return name !== null && isObject(value) && Object.hasOwn(value, name)
    ? initialOf(inner, value[name])
    : initial;
}

// The format of an input of type `datetime-local`.
function localTime(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return '';
  const two = (part: number) => String(part).padStart(2, '0');
  const year = String(at.getFullYear()).padStart(4, '0');
  return (
    `${year}-${two(at.getMonth() + 1)}-${two(at.getDate())}` +
    `T${two(at.getHours())}:${two(at.getMinutes())}`
  );
}

function indexIn(options: readonly Option[], value: unknown): string {
  const index = options.findIndex((option) => isSame(option.value, value));
  return index < 0 ? '' : String(index);
}
