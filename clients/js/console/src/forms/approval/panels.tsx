// The panels of a decision: another input, a text in place of the call, or a reason to decline.

import type { Decision } from '@smartspace/client';
import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { typedIn, useControl, useNewId, type FormParts } from '../fields/controls.ts';
import { FieldView } from '../fields/fields.tsx';
import type { Fault } from '../schema/field_types.ts';
import { answerOf } from '../schema/form_values.ts';
import type { Editor } from './edit.ts';

/** The pointer of the text in the request's body. */
export const TEXT_POINTER = '/text';

const LONGEST_TEXT = 1000; // As many characters as the server takes.

export interface PanelProps {
  form: FormParts & { showFaults: (faults: readonly Fault[]) => void };
  decide: (decision: Decision) => void;
  close: () => void;
}

/** Approves the call with another input. */
export function EditPanel({ editor, form, ...props }: PanelProps & { editor: Editor }) {
  const { field, typed } = editor;
  const submit = () => {
    const { value, faults } = answerOf(field, typedIn(field, form.controls));
    if (faults.length > 0) form.showFaults(faults);
    else props.decide({ action: 'edit', input: value });
  };
  return (
    <PanelForm submit={submit} button="Approve with this input" {...props}>
      <FieldView field={field} typed={typed} form={form} />
    </PanelForm>
  );
}

const TEXTS = {
  respond: { label: 'The result, in place of the call', button: 'Respond', isRequired: true },
  decline: { label: 'Why not? (optional)', button: 'Decline', isRequired: false },
} as const;

/** Answers in place of the call, or declines it. */
export function TextPanel(props: PanelProps & { action: keyof typeof TEXTS }): JSX.Element {
  const { action, form, decide, close } = props;
  const { label, button, isRequired } = TEXTS[action];
  const [inputId, faultId] = [useNewId(), useNewId()];
  const input = useRef<HTMLTextAreaElement>(null);
  useControl(form, TEXT_POINTER, {
    read: () => input.current?.value,
    focus: () => input.current?.focus(),
  });
  const fault = form.faults.get(TEXT_POINTER) ?? '';
  const submit = () => {
    const text = input.current?.value.trim() ?? '';
    if (text === '' && isRequired)
      form.showFaults([{ pointer: TEXT_POINTER, detail: 'Write the result for the agent.' }]);
    else decide({ action, ...(text !== '' && { text }) });
  };
  return (
    <PanelForm submit={submit} button={button} close={close}>
      <div class="field" onInput={() => form.clear(TEXT_POINTER)}>
        <label for={inputId}>{label}</label>
        <textarea
          id={inputId}
          ref={input}
          rows={2}
          maxLength={LONGEST_TEXT}
          required={isRequired}
          aria-describedby={faultId}
          aria-invalid={fault === '' ? undefined : 'true'}
        />
        <p class="problem" id={faultId} dir="auto">
          {fault}
        </p>
      </div>
    </PanelForm>
  );
}

function PanelForm(props: {
  submit: () => void;
  button: string;
  close: () => void;
  children: ComponentChildren;
}): JSX.Element {
  const { submit, button, close, children } = props;
  const sent = (event: Event) => {
    event.preventDefault();
    submit();
  };
  return (
    <form class="answering panel" noValidate autocomplete="off" onSubmit={sent}>
      {children}
      <div class="ask-row">
        <button type="submit">{button}</button>
        <button type="button" class="quiet" onClick={close}>
          Back
        </button>
      </div>
    </form>
  );
}
