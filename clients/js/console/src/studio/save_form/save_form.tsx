// A form that sends one request and shows each error beside its field.

import type { SmartspaceError } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { ComponentChildren, JSX, RefObject, TargetedSubmitEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { newKey } from '../../api/idempotency_key.ts';
import { placeFaults, type PlacedFaults } from '../../forms/schema/faults.ts';
import type { Fault } from '../../forms/schema/field_types.ts';
import { useUnsaved } from '../../navigation/unsaved.ts';
import { useNotify, wordsOf } from '../../ui/notices.tsx';
import { bodyOf, fieldsOf, hasChanges, settle, shownIn, type Control } from './body.ts';
import { conflictsOf } from './conflicts.ts';
import { FaultContext } from './fields.tsx';
import type { JsonObject } from './merge_patch.ts';

const NO_FAULTS: ReadonlyMap<string, string> = new Map();

const MARKED = 'Nothing was saved. See the marked fields.';

const CONFLICT =
  'Nothing was saved yet: somebody else has changed the marked fields since you opened ' +
  'them. Save again to write over that.';

/** A request of the HTTP API. */
export interface Request {
  method: 'POST' | 'PUT' | 'PATCH';
  path: string;
}

/** The body to send, or an error. */
export type Changed = Record<string, unknown> | string;

export interface SaveFormProps<T> {
  request: Request;
  /** The stored object that the fields show. With it, a save first reports changes by others. */
  loaded?: object;
  /** Called with the stored object if another person has changed it. */
  onNewer?: (current: T) => void;
  submit: string;
  /** Shown beside the button after it was saved. */
  done?: string;
  /** Whether `bodyWith` needs the stored object. */
  isOnCurrent?: boolean;
  /** Changes the body that the fields make, or returns an error. */
  bodyWith?: (body: Record<string, unknown>, current?: T) => Changed | Promise<Changed>;
  /** Returns the faults that the form shows. Null: a field outside of it shows the fault. */
  placed?: (fault: Fault) => Fault | null;
  /** Called with the body of the response. */
  onSaved?: (answer: T) => void;
  /** Shown beside the button. */
  actions?: ComponentChildren;
  /** The form's name for a screen reader. */
  label?: string;
  children: ComponentChildren;
}

/**
 * A form. A `PATCH` sends the changed fields. Typed values stay when the server refuses them.
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
  const { faults, problem, show, drop } = useFaults();
  const [state, setState] = useState<'ready' | 'sending' | 'done'>('ready');
  const base = useBase(loaded, form);
  // The conflicts that the person has seen. The next save then writes over them.
  const warned = useRef('');
  const resume = useUnsaved(
    () => form.current,
    () => form.current !== null && hasChanges(form.current),
  );

  const fail = (at: ReadonlyMap<string, string>, others: string) => {
    show(at, others);
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
      show(NO_FAULTS, '');
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
      // The person has left the page.
      if (!form.current) return notify(`It was not saved. ${wordsOf(error)}`);
      const errors = faultsOf(error as SmartspaceError);
      const own = props.placed ? errors.map(props.placed).filter((each) => each !== null) : errors;
      const placed = placedIn(form.current, own);
      const otherwise = own.length < errors.length ? MARKED : '';
      fail(placed.at, placed.others || (errors.length === 0 ? wordsOf(error) : otherwise));
    }
  };
  const changed = ({ target }: Event) => {
    drop((target as Partial<Control>).name ?? '');
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

// The errors at the fields, and the others in words.
function useFaults() {
  const [faults, setFaults] = useState(NO_FAULTS);
  const [problem, setProblem] = useState('');
  const show = (at: ReadonlyMap<string, string>, others: string) => {
    setFaults(at);
    setProblem(others || (at.size > 0 ? MARKED : ''));
  };
  // The error of a field is about the value that it had.
  const drop = (name: string) => {
    const left = new Map([...faults].filter(([each]) => each !== name));
    if (left.size < faults.size) setFaults(left);
    if (left.size === 0 && problem === MARKED) setProblem('');
  };
  return { faults, problem, show, drop };
}

// The object that the fields showed when the person began to change them: the newest loaded one, or
// the answer of the last save.
function useBase(loaded: object | undefined, form: RefObject<HTMLFormElement | null>) {
  const base = useRef(loaded);
  const newest = useRef(loaded);
  if (loaded !== newest.current) {
    newest.current = loaded;
    if (!form.current || !hasChanges(form.current)) base.current = loaded;
  }
  return base;
}

// A refusal begins with the name of the setting that the caller may not set.
function faultsOf({ status, errors = [], detail = '' }: SmartspaceError): readonly Fault[] {
  const [, name, words] = (status === 403 && /^([\w.]+): (.*)$/s.exec(detail)) || [];
  if (name === undefined || words === undefined) return errors;
  return [{ pointer: `/${name.replaceAll('.', '/')}`, detail: words }];
}

// The errors, by the fields of the form.
function placedIn(form: HTMLFormElement, faults: readonly Fault[]): PlacedFaults {
  const names = fieldsOf(form).map(({ name }) => name);
  return placeFaults(faults, names);
}
