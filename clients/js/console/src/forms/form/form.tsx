// An open form: the fields, a button that sends them and a way to decline. Typed values stay until
// the server takes the answer.

import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { typedIn, type Controls, type FormParts } from '../fields/controls.ts';
import { FieldView } from '../fields/fields.tsx';
import { REASON_POINTER, slotsOf } from '../schema/faults.ts';
import { answerOf } from '../schema/form_values.ts';
import { rootField } from '../schema/schema.ts';
import { DeclineForm, DeclineOpener, useDeclining } from './decline_form.tsx';
import { drafts } from './drafts.ts';
import { COMMENT_POINTER, OptionButtons, OptionComment } from './option_buttons.tsx';
import { useSending, type Answer } from './sending.ts';

export interface FormViewProps {
  callId: string;
  resultSchema: unknown;
  /** The options of buttons, or null. */
  options: readonly unknown[] | null;
  /** The id of the question. */
  labelledBy: string;
  /** In whose name the operator answers, in words; '' for a person. */
  as: string;
  /** The person may not answer. Typed values stay. */
  isBlocked: boolean;
  /** Sends the answer. Throws if the server refuses it. */
  send(answer: Answer): Promise<void>;
  /** Called when the form is removed. `hadFocus`: the focus was in it. */
  onClose(hadFocus: boolean): void;
}

/** The form of one call. It is made once: later changes of its schema do not disturb the typing. */
export function FormView(props: FormViewProps): JSX.Element {
  const frame = useRef<HTMLFieldSetElement>(null);
  const { begun, sending, declining, form, answer, submit, changed } = useForm(props, frame);
  const { options, field, draft } = begun;
  // The form is inside a log, whose new nodes a screen reader announces. Hints and errors must not
  // be announced like new messages.
  return (
    <fieldset
      ref={frame}
      class="ask"
      aria-labelledby={props.labelledBy}
      aria-live="off"
      disabled={sending.isBusy || props.isBlocked}
      onInput={changed}
    >
      <form class="answering" noValidate autocomplete="off" onSubmit={submit}>
        {options ? <OptionComment typed={draft?.input} form={form} /> : null}
        {field ? <FieldView field={field} typed={draft?.input} form={form} /> : null}
        <div class="ask-row">
          {options ? (
            <OptionButtons {...{ options, form }} choose={(output) => answer({ output })} />
          ) : (
            <button type="submit" class="primary">
              {props.resultSchema ? 'Send' : 'Confirm'}
            </button>
          )}
          <DeclineOpener {...declining} />
          {props.as === '' ? null : <span class="note" dir="auto">{`answers as ${props.as}`}</span>}
        </div>
      </form>
      <DeclineForm
        declining={declining}
        reason={draft?.declining.reason ?? ''}
        form={form}
        decline={(reason) => answer({ declined: true, ...(reason !== '' && { reason }) })}
        changed={changed}
      />
      <p class="note">{sending.note}</p>
      <p class="problem" role="alert" dir="auto">
        {sending.problem}
      </p>
    </fieldset>
  );
}

function useForm(props: FormViewProps, frame: RefObject<HTMLFieldSetElement | null>) {
  const { callId, isBlocked, send, onClose } = props;
  const [begun] = useState(() => begin(props));
  const { options, field, slots, draft, controls } = begun;
  const sendOnce = async (given: Answer) => {
    await send(given);
    for (const control of controls.values()) control.sent?.();
  };
  const sending = useSending(frame, sendOnce, controls, slots);
  const declining = useDeclining(draft);
  const { faults: found, clear } = sending;
  const form: FormParts = { controls, faults: found, clear, uploads: callId };
  useLayoutEffect(() => () => onClose(sending.hasFocus()), []);

  const read = () => {
    if (options) return controls.get(COMMENT_POINTER)?.read();
    return field ? typedIn(field, controls) : undefined;
  };
  const changed = () => {
    const reason = (controls.get(REASON_POINTER)?.read() ?? '') as string;
    drafts.set(callId, { input: read(), declining: { reason, isOpen: declining.isOpen } });
  };
  const answer = (given: Answer) => {
    if (!isBlocked) void sending.submit(given);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (options) return;
    const { value, faults } = field ? answerOf(field, read()) : { value: {}, faults: [] };
    if (faults.length > 0) sending.showFaults(faults);
    else answer({ output: value });
  };
  return { begun, sending, declining, form, answer, submit, changed };
}

function begin({ callId, resultSchema, options }: FormViewProps) {
  const field = options ? null : rootField(resultSchema);
  const controls: Controls = new Map();
  const slots = [...(field ? slotsOf(field) : []), REASON_POINTER];
  return { options, field, slots, controls, draft: drafts.get(callId) };
}
