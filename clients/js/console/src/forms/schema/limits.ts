// The limits of a field in words, shown before a person types. Pure.

import { bytesText, typeText } from '../../files/file_words.ts';
import type { FileShape, NumberShape, Shape, TextShape } from './field_types.ts';

/** The limits of a field, or '' if there are none. */
export function limitsOf(field: Shape): string {
  switch (field.kind) {
    case 'json':
      return 'as JSON';
    case 'file':
      return fileLimits(field);
    case 'lines':
      return joined('one per line', rangeOf(field.minItems, field.maxItems));
    case 'choices':
      return rangeOf(field.minItems, field.maxItems);
    case 'text':
      return textLimits(field);
    case 'number':
      return numberLimits(field);
    default:
      return '';
  }
}

function textLimits({ input, minLength, maxLength }: TextShape): string {
  const range = rangeOf(minLength, maxLength);
  return joined(
    input === 'datetime-local' ? 'in your time zone' : '',
    range && `${range} characters`,
  );
}

function fileLimits({ contentTypes, maxBytes, minItems, maxItems }: FileShape): string {
  const files = rangeOf(minItems, maxItems);
  return joined(
    files && `${files} files`,
    contentTypes.map(typeText).join(' or '),
    maxBytes === undefined ? '' : `at most ${bytesText(maxBytes)}`,
  );
}

function numberLimits(field: NumberShape): string {
  const { isInteger, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field;
  return joined(
    isInteger ? 'a whole number' : '',
    rangeOf(minimum, maximum),
    exclusiveMinimum === undefined ? '' : `more than ${exclusiveMinimum}`,
    exclusiveMaximum === undefined ? '' : `less than ${exclusiveMaximum}`,
    multipleOf === undefined ? '' : `in steps of ${multipleOf}`,
  );
}

function rangeOf(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined)
    return least === most ? `exactly ${least}` : `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? '' : `at most ${most}`;
}

const joined = (...texts: string[]): string => texts.filter(Boolean).join(', ');
