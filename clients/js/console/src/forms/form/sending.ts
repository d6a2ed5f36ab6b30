// Sends the answer of a form, and holds what the form shows about it: notes and errors.

import type { SmartspaceError } from '@smartspace/client';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Controls } from '../fields/controls.ts';
import { placeFaults } from '../schema/faults.ts';
import type { Fault } from '../schema/field_types.ts';

/** The result of a form: an answer, or a refusal to answer. */
export type Answer = { output: unknown } | { declined: true; reason?: string };

interface State {
  /** The answer is on its way, or the call is over. */
  isBusy: boolean;
  note: string;
  faults: ReadonlyMap<string, string>;
  problem: string;
  /** The pointer of the control that gets the focus. */
  focusOn: string | null;
}

const IDLE: State = { isBusy: false, note: '', faults: new Map(), problem: '', focusOn: null };

/** How a form sends its answer. */
export interface Sending<A = Answer> extends Omit<State, 'focusOn'> {
  /** Sends an answer, unless one is being sent. */
  submit(answer: A): Promise<void>;
  /** Shows errors and focuses the first field with one. */
  showFaults(faults: readonly Fault[]): void;
  /** Removes the error at a pointer. */
  clear(pointer: string): void;
  /** Whether the focus is in the form, or was until the form was disabled. */
  hasFocus(): boolean;
}

/**
 * The state of sending. `send` throws if the server refuses the answer. `slots` are the pointers at
 * which the form can show errors, in its order. After a conflict the form stays disabled, unless
 * the answer may be sent otherwise.
 */
export function useSending<A = Answer>(
  frame: RefObject<HTMLElement | null>,
  send: (answer: A) => Promise<void>,
  controls: Controls,
  slots: readonly string[],
  conflictEnds = true,
): Sending<A> {
  const [state, setState] = useState(IDLE);
  const isBusy = useRef(false);
  // A disabled control loses the focus. It gets the focus back if the answer fails.
  const focused = useRef<HTMLElement | null>(null);

  useLayoutEffect(() => {
    if (state.isBusy) return;
    if (document.activeElement === document.body) focused.current?.focus();
    focused.current = null;
    if (state.focusOn !== null) controls.get(state.focusOn)?.focus();
  }, [state]);

  const submit = async (answer: A) => {
    if (isBusy.current) return;
    isBusy.current = true;
    const active = document.activeElement as HTMLElement | null;
    focused.current = frame.current?.contains(active) ? active : null;
    setState({ ...IDLE, isBusy: true, note: 'Sending…' });
    try {
      await send(answer);
      setState((before) => ({ ...before, note: 'Sent.' }));
    } catch (error) {
      // The call is over. The new state of the card is on its way.
      isBusy.current = conflictEnds && (error as Partial<SmartspaceError>).status === 409;
      setState({ ...stateAfter(error as Error, slots), isBusy: isBusy.current });
    }
  };

  return {
    ...state,
    submit,
    showFaults: (faults) => setState(stateWith(faults, slots)),
    clear: (pointer) => setState((before) => without(before, pointer)),
    hasFocus() {
      const isLost = document.activeElement === document.body && focused.current !== null;
      return isLost || (frame.current?.contains(document.activeElement) ?? false);
    },
  };
}

function stateWith(faults: readonly Fault[], slots: readonly string[]): State {
  const { at, others } = placeFaults(faults, slots);
  const focusOn = slots.find((slot) => at.has(slot)) ?? null;
  return { ...IDLE, faults: at, problem: others, focusOn };
}

function stateAfter(error: Error & Partial<SmartspaceError>, slots: readonly string[]): State {
  const { status, errors = [], message, isTemporary = false } = error;
  if (status === 422 && errors.length > 0) return stateWith(errors, slots);
  const advice = isTemporary
    ? ' Your answer is still here. Sending it again does not answer twice.'
    : '';
  return { ...IDLE, problem: message + advice };
}

function without(state: State, pointer: string): State {
  if (!state.faults.has(pointer)) return state;
  const faults = new Map(state.faults);
  faults.delete(pointer);
  return { ...state, faults, focusOn: null };
}
