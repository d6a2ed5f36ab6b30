// Declining a form in two steps: a button opens a panel that asks for an optional reason.

import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useBeginning, useControl, useNewId, type FormParts } from '../fields/controls.ts';
import { REASON_POINTER } from '../schema/faults.ts';
import type { Draft } from './drafts.ts';

/** The state of the panel, for the button and the panel. */
export interface Declining {
  panelId: string;
  isOpen: boolean;
  /** The button that opens the panel. */
  opener: { current: HTMLButtonElement | null };
  /** Opens or closes the panel. */
  open(isOpen: boolean): void;
  /** Whether the panel was opened or closed, and not mounted so. Only then it takes the focus. */
  wasMoved: { current: boolean };
}

/** The state of the panel, restored from the draft. */
export function useDeclining(draft: Draft | undefined): Declining {
  const panelId = useNewId();
  const opener = useRef<HTMLButtonElement>(null);
  const wasMoved = useRef(false);
  const [isOpen, setOpen] = useState(draft?.declining.isOpen ?? false);
  const open = (isShown: boolean) => {
    wasMoved.current = true;
    setOpen(isShown);
  };
  return { panelId, isOpen, opener, open, wasMoved };
}

/** The button that opens the panel. */
export function DeclineOpener({ panelId, isOpen, opener, open }: Declining): JSX.Element {
  return (
    <button
      ref={opener}
      type="button"
      class="quiet"
      aria-controls={panelId}
      aria-expanded={isOpen ? 'true' : 'false'}
      onClick={() => open(true)}
    >
      Decline…
    </button>
  );
}

/**
 * The panel. `decline` gets the reason, or '' without one; `changed` is called when the panel has
 * opened or closed.
 */
export function DeclineForm(props: {
  declining: Declining;
  reason: string;
  form: FormParts;
  decline(reason: string): void;
  changed(): void;
}): JSX.Element {
  const { declining, reason, form, decline, changed } = props;
  const { panelId, isOpen, opener, open, wasMoved } = declining;
  const [inputId, faultId] = [useNewId(), useNewId()];
  const input = useRef<HTMLInputElement>(null);
  const row = useRef<HTMLDivElement>(null);
  useBeginning(input, (control) => (control.value = reason));
  useControl(form, REASON_POINTER, {
    read: () => input.current?.value,
    focus: () => input.current?.focus(),
  });
  useLayoutEffect(() => {
    if (!wasMoved.current) return;
    (isOpen ? input : opener).current?.focus();
    row.current?.scrollIntoView({ block: 'nearest' });
    changed();
  }, [isOpen]);
  const submit = (event: Event) => {
    event.preventDefault();
    decline(input.current?.value.trim() ?? '');
  };
  return (
    <form
      id={panelId}
      class="declining"
      noValidate
      autocomplete="off"
      hidden={!isOpen}
      onSubmit={submit}
      onInput={() => form.clear(REASON_POINTER)}
    >
      <label for={inputId}>Why not? (optional)</label>
      <input id={inputId} ref={input} type="text" autocomplete="off" aria-describedby={faultId} />
      <p class="problem" id={faultId} dir="auto">
        {form.faults.get(REASON_POINTER) ?? ''}
      </p>
      <div class="ask-row" ref={row}>
        <button type="submit">Decline</button>
        <button type="button" class="quiet" onClick={() => open(false)}>
          Back
        </button>
      </div>
    </form>
  );
}
