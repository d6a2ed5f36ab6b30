// The mounted controls of one form. Their values stay in the DOM, so nothing renders while a person
// types.

import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Field, Typed } from '../schema/field_types.ts';

/** How a form reads and focuses one of its controls. */
export interface Control {
  read(): Typed;
  focus(): void;
  /** Called when the server has taken the value. */
  sent?(): void;
}

/** The controls of a form by the pointers of their values. */
export type Controls = Map<string, Control>;

/** The state that the fields of a form share. */
export interface FormParts {
  controls: Controls;
  /** The errors that the fields show, by their pointers. */
  faults: ReadonlyMap<string, string>;
  /** Removes the error at a pointer. */
  clear(pointer: string): void;
  /** The name of the form's uploads: the id of its call. Without it no files are asked for. */
  uploads?: string;
}

let lastId = 0;

/** An id that is unique in the page and stays the same. */
export function useNewId(): string {
  const [id] = useState(() => `field-${(lastId += 1)}`);
  return id;
}

/** Makes a control known to its form while it is mounted. */
export function useControl({ controls }: FormParts, pointer: string, control: Control): void {
  useLayoutEffect(() => {
    controls.set(pointer, control);
    return () => void controls.delete(pointer);
  }, []);
}

/** Prepares a control when it is mounted, such as with its first value. */
export function useBeginning<E>(ref: RefObject<E | null>, begin: (node: E) => void): void {
  useLayoutEffect(() => {
    if (ref.current !== null) begin(ref.current);
  }, []);
}

/** The typed value of a field. */
export function typedIn(field: Field, controls: Controls): Typed {
  if (field.kind === 'group')
    return Object.fromEntries(field.fields.map((each) => [each.name, typedIn(each, controls)]));
  return controls.get(field.pointer)?.read();
}
