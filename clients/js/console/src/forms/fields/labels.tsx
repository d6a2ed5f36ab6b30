// The surroundings of the controls of a field: labels, hints, errors and frames.

import type { ComponentChildren, JSX } from 'preact';
import { visible } from '../../ui/visible.ts';
import type { Described } from '../schema/field_types.ts';
import { useNewId, type FormParts } from './controls.ts';

/** The hint and the error of a field. */
export interface Notes {
  /** The ids of both, for `aria-describedby`. */
  ids: string;
  /** Says that the control has an error, for `aria-invalid`. */
  invalid: 'true' | undefined;
  hint: JSX.Element | null;
  fault: JSX.Element;
  /** Removes the error, because the field has changed. */
  clear(): void;
}

/** The hint and the error of a field, which stays visible until the field changes. */
export function useNotes({ hint, pointer }: Described, { faults, clear }: FormParts): Notes {
  const [hintId, faultId] = [useNewId(), useNewId()];
  const text = faults.get(pointer) ?? '';
  const hintNode = (
    <p class="note" id={hintId} dir="auto">
      {visible(hint)}
    </p>
  );
  return {
    ids: hint === '' ? faultId : `${hintId} ${faultId}`,
    invalid: text === '' ? undefined : 'true',
    hint: hint === '' ? null : hintNode,
    fault: (
      <p class="problem" id={faultId} dir="auto">
        {visible(text)}
      </p>
    ),
    clear: () => clear(pointer),
  };
}

/** A field with a label above its control. */
export function Labelled(props: {
  field: Described;
  controlId: string;
  notes: Notes;
  children: ComponentChildren;
}): JSX.Element {
  const { field, controlId, notes, children } = props;
  return (
    <div class="field" onInput={notes.clear}>
      <label for={controlId} dir="auto">
        <LabelText text={field.label} isMarked={field.isMarked} />
      </label>
      {notes.hint}
      {children}
      {notes.fault}
    </div>
  );
}

/** A field with several controls in a frame. */
export function Framed(props: {
  field: Described;
  notes: Notes;
  /** The frame holds radio buttons. */
  isRadioGroup?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  const { field, notes, isRadioGroup = false, children } = props;
  const role = isRadioGroup
    ? ({ role: 'radiogroup', 'aria-required': field.isMarked ? 'true' : undefined } as const)
    : {};
  return (
    <fieldset class="field" aria-describedby={notes.ids} onInput={notes.clear} {...role}>
      <legend dir="auto">
        <LabelText text={field.label} isMarked={field.isMarked} />
      </legend>
      {notes.hint}
      {children}
      {notes.fault}
    </fieldset>
  );
}

/** A control with its label beside it. */
export function InlineLabel(props: {
  text: string;
  isMarked?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  const { text, isMarked = false, children } = props;
  return (
    <label class="inline-label">
      {children}
      <span dir="auto">
        <LabelText text={text} isMarked={isMarked} />
      </span>
    </label>
  );
}

// The mark is hidden from screen readers, because the control itself says that it is required.
function LabelText({ text, isMarked }: { text: string; isMarked: boolean }): JSX.Element {
  return (
    <>
      {visible(text)}
      {isMarked ? (
        <span class="mark" aria-hidden="true">
          {' *'}
        </span>
      ) : null}
    </>
  );
}
