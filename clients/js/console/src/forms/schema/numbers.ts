// Reads numbers that people type into a form. Pure.

import type { NumberShape } from './field_types.ts';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Takes the reason why a value can't be sent. */
export type Refuse = (detail: string) => undefined;

/** Returns the typed number of a field, or calls `refuse` with the reason. */
export function readNumber(field: NumberShape, text: string, refuse: Refuse): number | undefined {
  const value = Number(text);
  if (!NUMBER.test(text) || !Number.isFinite(value))
    return refuse(`Enter ${expectedText(field)}${pointAdvice(field, text)}.`);
  if (field.isInteger && !Number.isInteger(value)) return refuse(`Enter ${expectedText(field)}.`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return refuse('This number is too long to be sent exactly.');
  const broken = brokenLimit(field, value);
  return broken === null ? value : refuse(`This must be ${broken}.`);
}

// The limit that the value breaks, in words.
function brokenLimit(field: NumberShape, value: number): string | null {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field;
  if (minimum !== undefined && value < minimum) return `at least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `at most ${maximum}`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return `more than ${exclusiveMinimum}`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return `less than ${exclusiveMaximum}`;
  if (multipleOf === undefined || multipleOf <= 0) return null;
  const steps = value / multipleOf;
  // In binary floating point, 0.3 / 0.1 is not exactly 3.
  const isStep = Math.abs(steps - Math.round(steps)) <= 1e-9 * Math.max(1, Math.abs(steps));
  return isStep ? null : `a multiple of ${multipleOf}`;
}

function expectedText(field: NumberShape): string {
  const { isInteger, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field;
  const isBetween = minimum !== undefined && maximum !== undefined;
  const limits = [
    isBetween ? `from ${minimum} to ${maximum}` : '',
    !isBetween && minimum !== undefined ? `of at least ${minimum}` : '',
    !isBetween && maximum !== undefined ? `of at most ${maximum}` : '',
    exclusiveMinimum === undefined ? '' : `above ${exclusiveMinimum}`,
    exclusiveMaximum === undefined ? '' : `below ${exclusiveMaximum}`,
  ];
  const number = [isInteger ? 'a whole number' : 'a number', limits.filter(Boolean).join(' and ')]
    .filter(Boolean)
    .join(' ');
  return multipleOf === undefined ? number : `${number}, in steps of ${multipleOf}`;
}

// In many countries people type a decimal comma.
function pointAdvice({ isInteger }: NumberShape, text: string): string {
  const hasComma = !isInteger && text.includes(',') && NUMBER.test(text.replace(',', '.'));
  return hasComma ? '; use a point for decimals, not a comma' : '';
}
