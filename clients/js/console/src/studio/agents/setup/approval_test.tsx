// The test of approval rules: what a call would need.

import { useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { ApprovalPreview } from '../../../api/approvals.ts';
import { agentPath } from '../../../api/paths.ts';
import { TextArea, TextField } from '../../save_form/fields.tsx';
import { SaveForm } from '../../save_form/save_form.tsx';

/** Asks the server about a call that is not made. It reads the stored rules. */
export function ApprovalTest({ agentId }: { agentId: string }): JSX.Element {
  const [text, setText] = useState('');
  return (
    <SaveForm<ApprovalPreview>
      request={{ method: 'POST', path: agentPath(agentId, 'approvals', 'preview') }}
      submit="See which rule holds"
      done=""
      label="Test the approvals"
      onSaved={(preview) => setText(previewText(preview))}
    >
      <h3>Test a call</h3>
      <TextField name="/tool" label="Tool" required />
      <TextArea
        name="/input"
        label="Input"
        kind="json"
        rows={3}
        required
        value="{}"
        hint="The saved rules are asked. Nothing is called."
      />
      <p role="status" class="test-result">
        {text}
      </p>
    </SaveForm>
  );
}

/** The answer in words. */
export function previewText({ verdict, rule, by, quorum, allowanceId }: ApprovalPreview): string {
  const named = rule === null ? '' : `Rule ${rule + 1}`;
  if (verdict === 'deny') return `${named} refuses the call.`;
  if (verdict === 'make')
    return allowanceId
      ? `${named} would ask, but an allowance lets it pass.`
      : 'No rule fits: it is made.';
  const who = typeof by === 'string' ? by : `${by?.length ?? 0} named people`;
  return `${named} asks ${who}: ${quorum ?? 1} must approve.`;
}
