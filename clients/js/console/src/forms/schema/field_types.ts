// The fields of a form, as schema.ts makes them from a JSON Schema.

export type Field = FieldOf<Shape>;

/** A field of one kind. */
export type FieldOf<S extends Shape> = Described & S;

/** The properties of all fields. */
export interface Described {
  /** The name of the property; null for the whole answer. */
  name: string | null;
  /** The JSON pointer of the value in the request's body. */
  pointer: string;
  label: string;
  hint: string;
  isRequired: boolean;
  isNullable: boolean;
  /** Nothing can be sent without it. */
  isMarked: boolean;
  /** The first value, as a person would type it. */
  initial: Typed;
}

/**
 * A value as a person types it: a text, a boolean, the index of an option, a list of indexes, or
 * for a group an object of these by name. Null is a control whose content has no value, such as a
 * date that is only half entered.
 */
export type Typed = string | boolean | readonly string[] | TypedGroup | null | undefined;

/** The values of a group by the names of its fields. */
export interface TypedGroup {
  readonly [name: string]: Typed;
}

/** An error in a value. `pointer` is a JSON pointer into the request's body. */
export interface Fault {
  pointer: string;
  detail: string;
}

export type Shape =
  | TextShape
  | NumberShape
  | LinesShape
  | JsonShape
  | CheckboxShape
  | TickShape
  | FixedShape
  | ChoiceShape
  | ChoicesShape
  | FileShape
  | GroupShape;

export interface Option {
  value: unknown;
  label: string;
}

export interface TextShape {
  kind: 'text';
  /** The type of its `input`, or `textarea`. */
  input: 'text' | 'textarea' | 'date' | 'datetime-local' | 'email' | 'url';
  minLength: number | undefined;
  maxLength: number | undefined;
  pattern: string | undefined;
  /** The description in the schema, for the error of a wrong `pattern`. */
  meaning: string | undefined;
}

export interface NumberShape {
  kind: 'number';
  isInteger: boolean;
  minimum: number | undefined;
  maximum: number | undefined;
  exclusiveMinimum: number | undefined;
  exclusiveMaximum: number | undefined;
  multipleOf: number | undefined;
}

/** How many items a list may have. */
export interface Count {
  minItems: number | undefined;
  maxItems: number | undefined;
}

/** A list of texts, one per line. */
export interface LinesShape extends Count {
  kind: 'lines';
}

export interface JsonShape {
  kind: 'json';
}

export interface CheckboxShape {
  kind: 'checkbox';
}

/** A constant that is sent if its box is ticked. */
export interface TickShape {
  kind: 'tick';
  value: unknown;
  /** The constant is `true`. */
  isAgreement: boolean;
}

/** A constant that is always sent. */
export interface FixedShape {
  kind: 'fixed';
  value: unknown;
}

/** One of the options. */
export interface ChoiceShape {
  kind: 'choice';
  shows: 'radios' | 'select';
  options: readonly Option[];
}

/** Some of the options. */
export interface ChoicesShape extends Count {
  kind: 'choices';
  options: readonly Option[];
}

/** The ids of uploaded files: one, or with `isList` a list. */
export interface FileShape extends Count {
  kind: 'file';
  isList: boolean;
  /** Types such as `image/*`. Empty: every type that a space takes. */
  contentTypes: readonly string[];
  maxBytes: number | undefined;
}

export interface GroupShape {
  kind: 'group';
  fields: readonly Field[];
}
