// The form that makes or changes a plan.

import type { Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { SelectField, TextArea, TextField } from '../../save_form/fields.tsx';
import type { Request } from '../../save_form/save_form.tsx';
import { SaveForm } from '../../save_form/save_form.tsx';
import { localText, timeOf } from './local_time.ts';
import { ownZone } from './plan_words.ts';

type Plan = Schemas['Plan'];
type Kind = 'cron' | 'scheduledAt' | 'runAfter';

const KINDS = [
  { value: 'cron', text: 'Repeatedly' },
  { value: 'scheduledAt', text: 'Once, at a time' },
  { value: 'runAfter', text: 'Once, after a while' },
];
const ZONES = Intl.supportedValuesOf('timeZone');

export interface PlanFormProps {
  /** Null: a new one. */
  plan: Plan | null;
  request: Request;
  label: string;
  onSaved: () => void;
  actions?: JSX.Element;
}

/** A form with the fields of the chosen kind of schedule. */
export function PlanForm({ plan, request, label, onSaved, actions }: PlanFormProps): JSX.Element {
  const [kind, setKind] = useState<Kind>(plan?.type === 'once' ? 'scheduledAt' : 'cron');
  const [added, setAdded] = useState(0);
  const setAt = plan?.type === 'once' ? localText(plan.nextRunAt) : '';
  const body = ({ scheduledAt, ...rest }: Record<string, unknown>) => {
    // An unchanged time may have seconds that the field does not show.
    if (kind !== 'scheduledAt' || (plan && scheduledAt === setAt)) return rest;
    return { ...rest, scheduledAt: timeOf(scheduledAt) };
  };
  const saved = () => {
    if (!plan) {
      setAdded(added + 1);
      setKind('cron');
    }
    onSaved();
  };
  return (
    <SaveForm
      label={label}
      request={request}
      submit={plan ? 'Save' : 'Add'}
      done={plan ? 'Saved' : 'Added'}
      bodyWith={body}
      onSaved={saved}
      actions={actions}
    >
      <div key={added} class="fieldset">
        <TextField name="/name" label="Name" value={plan?.name} required maxLength={128} />
        <TextArea
          name="/instruction"
          label="What the agent is to do"
          value={plan?.instruction}
          required
        />
        <SelectField
          name="kind"
          label="When"
          value={kind}
          options={KINDS}
          onChoose={(value) => setKind(value as Kind)}
        />
        <Schedule kind={kind} plan={plan} setAt={setAt} />
      </div>
    </SaveForm>
  );
}

function Schedule({ kind, plan, setAt }: { kind: Kind; plan: Plan | null; setAt: string }) {
  const cron = plan?.type === 'cron' ? plan : null;
  switch (kind) {
    case 'cron':
      return (
        <div class="columns">
          <TextField
            name="/cron"
            label="Cron"
            value={cron?.cron}
            required
            placeholder="0 9 * * 1-5"
            hint="Minute, hour, day of the month, month, day of the week."
          />
          <TextField
            name="/timezone"
            label="Time zone"
            value={cron?.timezone ?? ownZone()}
            options={ZONES}
            required
          />
        </div>
      );
    case 'scheduledAt':
      return (
        <TextField
          type="datetime-local"
          name="/scheduledAt"
          label="Time"
          value={setAt}
          required
          hint={`In your time zone, ${ownZone()}.`}
        />
      );
    case 'runAfter':
      return (
        <TextField
          name="/runAfter"
          label="After"
          required
          placeholder="2 hours"
          hint="Such as “30 seconds”, “2 hours”, “1 day” or “1 week”."
        />
      );
  }
}
