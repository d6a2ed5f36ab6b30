// A form that sends one request and shows each error beside its field.

import type { SmartspaceError } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import {
  createContext,
  type ComponentChildren,
  type JSX,
  type RefObject,
  type TargetedSubmitEvent,
} from 'preact';
import { useContext, useId, useRef, useState } from 'preact/hooks';
import { placeFaults, type PlacedFaults } from '../../forms/schema/faults.ts';
import type { Fault } from '../../forms/schema/field_types.ts';
import { newKey } from '../../api/idempotency_key.ts';
import { useNotify, wordsOf } from '../../ui/notices.tsx';
import { useUnsaved } from '../../navigation/unsaved.ts';
import { bodyOf, fieldsOf, hasChanges, settle, shownIn } from './body.ts';
import { conflictsOf } from './conflicts.ts';
import type { JsonObject } from './merge_patch.ts';

const FaultContext = createContext<ReadonlyMap<string, string>>(new Map());
const NO_FAULTS: ReadonlyMap<string, string> = new Map();

const CONFLICT =
  'Nothing was saved yet: somebody else has changed the marked fields since you opened them. Save again to write over that.';

/** A request of the HTTP API. */
export interface Request {
  method: 'POST' | 'PUT' | 'PATCH';
  path: string;
}

/** The body to send, or what is wrong with it. */
export type Changed = Record<string, unknown> | string;

export interface SaveFormProps<T> {
  request: Request;
  /** What the fields show. With it, a save says first what somebody else has changed since. */
  loaded?: object;
  /** Called with what the server has if somebody else has changed it. */
  onNewer?: (current: T) => void;
  /** The button's text. */
  submit: string;
  /** What the button's place says for a moment after it was saved. */
  done?: string;
  /** Whether `bodyWith` needs what the server has. */
  isOnCurrent?: boolean;
  /** Changes the body that the fields make, or says what is wrong with it. */
  bodyWith?: (body: Record<string, unknown>, current?: T) => Changed | Promise<Changed>;
  /** Called with the body of the response. */
  onSaved?: (answer: T) => void;
  /** Shown beside the button. */
  actions?: ComponentChildren;
  /** The form's name for a screen reader. */
  label?: string;
  children: ComponentChildren;
}

/**
 * A form. A `PATCH` sends what has changed. What was typed stays when the server refuses it.
 */
export function SaveForm<T = unknown>(props: SaveFormProps<T>): JSX.Element {
  const {
    request,
    loaded,
    onNewer,
    isOnCurrent,
    submit,
    done = 'Saved',
    bodyWith,
    onSaved,
    actions,
    label,
    children,
  } = props;
  const client = useClient();
  const notify = useNotify();
  const form = useRef<HTMLFormElement>(null);
  const key = useRef(newKey());
  const [faults, setFaults] = useState(NO_FAULTS);
  const [problem, setProblem] = useState('');
  const [state, setState] = useState<'ready' | 'sending' | 'done'>('ready');
  const base = useBase(loaded, form);
  // The conflicts that the person has seen. The next save then writes over them.
  const warned = useRef('');
  const resume = useUnsaved(
    () => form.current,
    () => form.current !== null && hasChanges(form.current),
  );

  const fail = (at: ReadonlyMap<string, string>, others: string) => {
    setFaults(at);
    setProblem(others || (at.size > 0 ? 'Nothing was saved. See the marked fields.' : ''));
    setState('ready');
    const [first] = at.keys();
    setTimeout(() => {
      const field =
        first && form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(first)}"]`);
      if (field) field.focus();
    });
  };
  const send = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (state === 'sending') return;
    const { body, faults: unread } = bodyOf(event.currentTarget, request.method === 'PATCH');
    if (unread.size > 0) return fail(unread, '');
    const { method, path } = request;
    const shown = shownIn(event.currentTarget);
    setState('sending');
    try {
      const current =
        loaded || isOnCurrent ? await client.request<T>('GET', path, { retry: true }) : undefined;
      const sent = bodyWith ? await bodyWith(body, current) : body;
      if (typeof sent === 'string') return fail(NO_FAULTS, sent);
      const conflicts =
        loaded && current
          ? conflictsOf(sent, base.current as JsonObject, current as JsonObject)
          : [];
      const warning = JSON.stringify(conflicts);
      if (current && conflicts.length > 0 && warning !== warned.current) {
        warned.current = warning;
        onNewer?.(current);
        if (!form.current) throw new Error('Somebody else has changed it.');
        const placed = placedIn(form.current, conflicts);
        return fail(placed.at, `${CONFLICT} ${placed.others}`.trim());
      }
      setFaults(NO_FAULTS);
      setProblem('');
      const idempotencyKey = method === 'POST' ? key.current : undefined;
      const answer = await client.request<T>(method, path, {
        body: sent,
        idempotencyKey,
        retry: true,
      });
      key.current = newKey();
      warned.current = '';
      if (loaded) base.current = answer as object;
      if (form.current) settle(form.current, shown);
      setState('done');
      onSaved?.(answer);
    } catch (error) {
      if (!(error as SmartspaceError).isTemporary) key.current = newKey();
      const { errors = [], detail } = error as SmartspaceError;
      // The page was left meanwhile.
      if (!form.current) return notify(`It was not saved. ${wordsOf(error)}`);
      const placed = placedIn(form.current, errors);
      fail(placed.at, placed.others || (errors.length === 0 ? (detail ?? wordsOf(error)) : ''));
    }
  };
  const changed = () => {
    // A changed input is a different request, so it needs a different idempotency key.
    key.current = newKey();
    resume();
    if (state === 'done') setState('ready');
  };

  return (
    <form
      ref={form}
      class="save-form"
      aria-label={label}
      autocomplete="off"
      onSubmit={send}
      onInput={changed}
    >
      <FaultContext.Provider value={faults}>{children}</FaultContext.Provider>
      <div class="form-row">
        <p class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary" disabled={state === 'sending'}>
          {submit}
        </button>
        {actions}
        <span class="note" role="status">
          {state === 'done' ? done : ''}
        </span>
      </div>
    </form>
  );
}

// What the fields have shown when the person began to change them: the newest that was loaded, or
// what the last save has answered.
function useBase(loaded: object | undefined, form: RefObject<HTMLFormElement | null>) {
  const base = useRef(loaded);
  const newest = useRef(loaded);
  if (loaded !== newest.current) {
    newest.current = loaded;
    if (!form.current || !hasChanges(form.current)) base.current = loaded;
  }
  return base;
}

// The fields of the form that the faults belong to.
function placedIn(form: HTMLFormElement, faults: readonly Fault[]): PlacedFaults {
  const names = fieldsOf(form).map(({ name }) => name);
  return placeFaults(faults, names);
}

export interface FieldProps {
  /** The JSON pointer of the value in the body. */
  name: string;
  label: string;
  /** A sentence below the field. */
  hint?: ComponentChildren;
  disabled?: boolean;
}

/** What describes a field: its hint and its fault. */
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
          {fault}
        </p>
      ) : null}
    </>
  );
  return { control, notes };
}

export interface TextFieldProps extends FieldProps {
  /** What the browser helps to enter. Its value is sent as text. */
  type?: 'text' | 'datetime-local';
  value?: string | null | undefined;
  required?: boolean;
  maxLength?: number;
  placeholder?: string;
  /** The texts that the field offers. */
  options?: readonly string[];
}

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
  } = props;
  const { control, notes } = useField(props);
  return (
    <div class="field">
      <label for={control.id}>{label}</label>
      <input
        {...control}
        type={type}
        defaultValue={value ?? ''}
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
  placeholder?: string;
  /** `plain`: an empty text is sent as such. `json`: the text is parsed. */
  kind?: 'plain' | 'json';
}

/** Several lines of text, or JSON. */
export function TextArea(props: TextAreaProps): JSX.Element {
  const { label, value, required, rows = 4, placeholder, kind, disabled } = props;
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
        {...{ required, rows, placeholder, disabled }}
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
  /** What an empty field means. */
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
