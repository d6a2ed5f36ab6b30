// Which later calls an approval covers, as expressions in CEL. Pure.

import { shortened, visible } from '../../ui/visible.ts';
import { isObject, wordsFor } from '../schema/json.ts';

const LONGEST_BYTES = 2048; // As many as the server takes.
const LONGEST_CHARS = 40;
const MOST_DEPTH = 8;

/** A choice of later calls that are made without asking. */
export interface Scope {
  /** It continues "Always here for". */
  label: string;
  /** Null: every call. */
  when: string | null;
}

/** The calls with the same input. Null if that cannot be written as an expression. */
export function exactScope(input: unknown): Scope | null {
  const value = celOf(input);
  return value === null ? null : scopeOf('this exact input', `input == ${value}`);
}

/** Every call of the tool. */
export const ANY_INPUT: Scope = { label: 'any input', when: null };

/** The calls in which one field has the same value: one scope for each field with a plain value. */
export function fieldScopes(input: unknown): Scope[] {
  if (!isObject(input)) return [];
  return Object.entries(input).flatMap(([name, value]) => {
    const isPlain = value === null || typeof value !== 'object';
    const expected = isPlain ? celOf(value) : null;
    if (expected === null) return [];
    const label = `${name} = ${shortened(wordsFor(value), LONGEST_CHARS)}`;
    return scopeOf(label, `input[${textOf(name)}] == ${expected}`) ?? [];
  });
}

const scopeOf = (label: string, when: string): Scope | null =>
  new TextEncoder().encode(when).length > LONGEST_BYTES ? null : { label, when };

/** A JSON value as a literal of CEL. Null if it has none that is surely the same value. */
export function celOf(value: unknown, depth = 0): string | null {
  if (typeof value === 'string') return textOf(value);
  if (typeof value === 'number') return numberOf(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (depth === MOST_DEPTH) return null;
  if (Array.isArray(value)) {
    const items = value.map((item) => celOf(item, depth + 1));
    return items.includes(null) ? null : `[${items.join(', ')}]`;
  }
  if (!isObject(value)) return null;
  const members = Object.entries(value).map(([name, each]) => {
    const inner = celOf(each, depth + 1);
    return inner === null ? null : `${textOf(name)}: ${inner}`;
  });
  return members.includes(null) ? null : `{${members.join(', ')}}`;
}

// JavaScript rounds large integers, so that another number would be meant.
function numberOf(number: number): string | null {
  if (Number.isSafeInteger(number)) return String(number);
  if (Number.isInteger(number) || !Number.isFinite(number)) return null;
  return String(number);
}

// What could end the literal, or would be hidden in a list of allowances, is escaped.
function textOf(text: string): string {
  const escaped = [...text].map((char) => {
    const code = char.codePointAt(0) ?? 0;
    if (char === '"' || char === '\\') return `\\${char}`;
    if (code >= 0x20 && visible(char) === char) return char;
    const digits = code.toString(16);
    return code > 0xffff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
  });
  return `"${escaped.join('')}"`;
}
