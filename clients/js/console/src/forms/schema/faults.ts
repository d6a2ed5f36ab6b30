// Places the errors of an answer at the fields of its form. Pure.

import type { Fault, Field } from './field_types.ts';

/** The pointer of the reason for declining in the request's body. */
export const REASON_POINTER = '/reason';

/** Errors by the pointer of the field that shows them, and the others as one text. */
export interface PlacedFaults {
  at: ReadonlyMap<string, string>;
  others: string;
}

/**
 * The pointers at which a field can show errors, in the order of the form; a group comes after its
 * fields. The outermost group has none of its own: the form shows its errors.
 */
export function slotsOf(field: Field): string[] {
  if (field.kind === 'fixed') return [];
  if (field.kind !== 'group') return [field.pointer];
  const inner = field.fields.flatMap(slotsOf);
  return field.name === null ? inner : [...inner, field.pointer];
}

/** Places each error at the innermost of the slots that contains it. */
export function placeFaults(faults: readonly Fault[], slots: readonly string[]): PlacedFaults {
  const texts = new Map<string, string[]>();
  const others: string[] = [];
  for (const { pointer, detail } of faults) {
    const enclosing = slots.filter((slot) => isWithin(pointer, slot));
    const [slot] = enclosing.sort((one, other) => other.length - one.length);
    const rest = slot === undefined ? pointer.replace(/^\/[^/]*/, '') : pointer.slice(slot.length);
    const text = rest === '' ? detail : `${rest}: ${detail}`;
    if (slot === undefined) others.push(text);
    else texts.set(slot, [...(texts.get(slot) ?? []), text]);
  }
  const at = new Map([...texts].map(([slot, each]) => [slot, each.join(' ')]));
  return { at, others: others.join('; ') };
}

/** Whether a pointer is `outer`, or inside of it. */
export const isWithin = (pointer: string, outer: string): boolean =>
  pointer === outer || pointer.startsWith(`${outer}/`);
