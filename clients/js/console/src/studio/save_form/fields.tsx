// The fields of a form that saves. They are uncontrolled: the form reads them when it is sent.

import { createContext, type ComponentChildren, type JSX, type TargetedInputEvent } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { visible } from '../../ui/visible.ts';

/** The errors of the form, by the names of their fields. */
export const FaultContext = createContext<ReadonlyMap<string, string>>(new Map());

export interface FieldProps {
  /** The JSON pointer of the value in the body. */
  name: string;
  label: string;
  /** A sentence below the field. */
  hint?: ComponentChildren;
  disabled?: boolean;
}

/** The attributes of a field's control, and the notes below it: the hint and the fault. */
export function useField({ name, hint }: FieldProps) {
  const id = useId();
  const fault = useContext(FaultContext).get(name);
  const described = [hint ? `${id}-hint` : '', fault ? `${id}-fault` : ''].filter(Boolean);
  const control = {
    id,
    name,
    'aria-describedby': described.join(' ') || undefined,
    'aria-invalid': fault ? ('true' as const) : undefined,
  };
  const notes = (
    <>
      {hint ? (
        <p id={`${id}-hint`} class="note">
          {hint}
        </p>
      ) : null}
      {fault ? (
        <p id={`${id}-fault`} class="problem">
          {visible(fault)}
        </p>
      ) : null}
    </>
  );
  return { control, notes };
}

export interface TextFieldProps extends FieldProps {
  /** The type of the input. Its value is sent as text. */
  type?: 'text' | 'datetime-local';
  value?: string | null | undefined;
  required?: boolean;
  maxLength?: number;
  placeholder?: string;
  /** The texts that the field offers. */
  options?: readonly string[];
  /** Takes each change. The field then always shows `value`. */
  onValue?: (value: string) => void;
}

type Typed = TargetedInputEvent<HTMLInputElement>;

/** A line of text. */
export function TextField(props: TextFieldProps): JSX.Element {
  const {
    type = 'text',
    label,
    value,
    required,
    maxLength,
    placeholder,
    options,
    disabled,
    onValue,
  } = props;
  const { control, notes } = useField(props);
  const shown = onValue
    ? { value: value ?? '', onInput: (event: Typed) => onValue(event.currentTarget.value) }
    : { defaultValue: value ?? '' };
  return (
    <div class="field">
      <label for={control.id}>{label}</label>
      <input
        {...control}
        type={type}
        {...shown}
        {...{ required, maxLength, placeholder, disabled }}
        list={options ? `${control.id}-options` : undefined}
        dir="auto"
      />
      {options ? (
        <datalist id={`${control.id}-options`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      ) : null}
      {notes}
    </div>
  );
}

export interface TextAreaProps extends FieldProps {
  value?: string | null | undefined;
  required?: boolean;
  rows?: number;
  maxLength?: number;
  placeholder?: string;
  /** `plain`: an empty text is sent as such. `json`: the text is parsed. */
  kind?: 'plain' | 'json';
}

/** Several lines of text, or JSON. */
export function TextArea(props: TextAreaProps): JSX.Element {
  const { label, value, required, rows = 4, maxLength, placeholder, kind, disabled } = props;
  const { control, notes } = useField(props);
  return (
    <div class="field">
      <label for={control.id}>{label}</label>
      <textarea
        {...control}
        class={kind === 'json' ? 'json' : undefined}
        data-kind={kind}
        defaultValue={value ?? ''}
        spellcheck={kind !== 'json'}
        {...{ required, rows, maxLength, placeholder, disabled }}
        dir="auto"
      />
      {notes}
    </div>
  );
}

export interface NumberFieldProps extends FieldProps {
  value?: number | null | undefined;
  required?: boolean;
  min?: number;
  max?: number;
  step?: number | 'any';
  /** The meaning of an empty field. */
  placeholder?: string;
}

/** A number. Empty: none. */
export function NumberField(props: NumberFieldProps): JSX.Element {
  const { label, value, required, min, max, step, placeholder, disabled } = props;
  const { control, notes } = useField(props);
  return (
    <div class="field">
      <label for={control.id}>{label}</label>
      <input
        {...control}
        type="number"
        data-kind="number"
        defaultValue={value === null || value === undefined ? '' : String(value)}
        {...{ required, min, max, step, placeholder, disabled }}
      />
      {notes}
    </div>
  );
}

export interface SelectFieldProps extends FieldProps {
  value: string;
  options: readonly { value: string; text: string }[];
  onChoose?: (value: string) => void;
}

/** One of several values. */
export function SelectField(props: SelectFieldProps): JSX.Element {
  const { label, value, options, onChoose, disabled } = props;
  const { control, notes } = useField(props);
  return (
    <div class="field">
      <label for={control.id}>{label}</label>
      <select
        {...control}
        required
        disabled={disabled}
        data-first={value}
        onChange={(event) => onChoose?.(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.text}
          </option>
        ))}
      </select>
      {notes}
    </div>
  );
}

/** Yes or no. */
export function CheckField(props: FieldProps & { value: boolean }): JSX.Element {
  const { label, value, disabled } = props;
  const { control, notes } = useField(props);
  return (
    <div class="field">
      <label class="check">
        <input {...control} type="checkbox" defaultChecked={value} disabled={disabled} />
        {label}
      </label>
      {notes}
    </div>
  );
}
