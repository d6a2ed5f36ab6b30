// The buttons of a call that waits for people, and the panels that some of them open.

import type { Decision } from '@smartspace/client';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useNewId, type Controls, type FormParts } from '../fields/controls.ts';
import { useSending } from '../form/sending.ts';
import { slotsOf } from '../schema/faults.ts';
import { Always } from './always.tsx';
import type { ApprovalPart } from './approval_words.ts';
import { editorOf } from './edit.ts';
import { EditPanel, TEXT_POINTER, TextPanel } from './panels.tsx';

type Panel = 'edit' | 'respond' | 'decline';

export interface DecisionFormProps {
  part: ApprovalPart;
  /** The id of the card's title. */
  labelledBy: string;
  /** The person in whose name the operator decides; '' for a person. */
  as: string;
  /** The person has approved the call as it is now. */
  hasApproved: boolean;
  /** Sends the decision. Throws if the server refuses it. */
  send: (decision: Decision) => Promise<void>;
}

/** All that a person may decide. */
export function DecisionForm(props: DecisionFormProps): JSX.Element {
  const { part, labelledBy, as, hasApproved } = props;
  const { frame, panelId, panel, open, sending, editor, form } = useDecisions(props);
  const decide = (decision: Decision) => void sending.submit(decision);
  const opener = (name: Panel, text: string) => (
    <button
      type="button"
      class="quiet"
      data-opens={name}
      aria-controls={panelId}
      aria-expanded={panel === name ? 'true' : 'false'}
      onClick={() => open(panel === name ? null : name)}
    >
      {text}
    </button>
  );
  const panelProps = { form, decide, close: () => open(null) };
  return (
    <fieldset
      ref={frame}
      class="ask"
      aria-labelledby={labelledBy}
      aria-live="off"
      disabled={sending.isBusy}
    >
      <div class="ask-row">
        {hasApproved ? null : (
          <button type="button" class="primary" onClick={() => decide({ action: 'approve' })}>
            {as === '' ? 'Approve once' : `Approve once as ${as}`}
          </button>
        )}
        {opener('edit', 'Edit…')}
        {opener('respond', 'Respond…')}
        {opener('decline', 'Decline…')}
        <button type="button" class="quiet" onClick={() => decide({ action: 'end' })}>
          End run
        </button>
      </div>
      {part.approval.needed === 1 ? <Always input={part.input} decide={decide} /> : null}
      <div id={panelId}>
        {panel === 'edit' ? <EditPanel editor={editor} {...panelProps} /> : null}
        {panel === 'respond' || panel === 'decline' ? (
          <TextPanel key={panel} action={panel} {...panelProps} />
        ) : null}
      </div>
      <p class="note">{sending.note}</p>
      <p class="problem" role="alert" dir="auto">
        {sending.problem}
      </p>
    </fieldset>
  );
}

function useDecisions({ part, send }: DecisionFormProps) {
  const frame = useRef<HTMLFieldSetElement>(null);
  const panelId = useNewId();
  const [panel, setPanel] = useState<Panel | null>(null);
  // Made once: later news must not disturb the typing.
  const [{ editor, controls, slots }] = useState(() => {
    const made = editorOf(part.resultSchema, part.input);
    const empty: Controls = new Map();
    return { editor: made, controls: empty, slots: [...slotsOf(made.field), TEXT_POINTER] };
  });
  const sending = useSending<Decision>(frame, send, controls, slots, false);
  const form: FormParts & { showFaults: typeof sending.showFaults } = {
    controls,
    faults: sending.faults,
    clear: sending.clear,
    showFaults: sending.showFaults,
  };
  const closed = useRef<Panel | null>(null);
  const open = (next: Panel | null) => {
    closed.current = next === null ? panel : null;
    setPanel(next);
  };
  useLayoutEffect(() => {
    const selector = panel
      ? `[id="${panelId}"] :is(input, textarea, select)`
      : closed.current && `[data-opens="${closed.current}"]`;
    // The buttons below the text show, too, if there is room.
    frame.current?.querySelector('.panel .ask-row')?.scrollIntoView({ block: 'nearest' });
    if (selector) frame.current?.querySelector<HTMLElement>(selector)?.focus();
  }, [panel]);
  return { frame, panelId, panel, open, sending, editor, form };
}
