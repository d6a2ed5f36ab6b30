// The form that changes the settings of a space.

import type { Schemas, SpaceInfo } from '@smartspace/client';
import type { JSX } from 'preact';
import { spacePath } from '../../api/paths.ts';
import { useActivity } from '../data/activity.ts';
import { useAnswer } from '../data/answer.ts';
import { CheckField, NumberField, TextField } from '../save_form/fields.tsx';
import { SaveForm } from '../save_form/save_form.tsx';
import { budgetOf, OWNER_LIMITS, routerChange, todayText } from './policies.ts';
import { WhoAnswers } from './who_answers.tsx';

export interface SettingsFormProps {
  space: SpaceInfo;
  isOperator: boolean;
}

export function SettingsForm({ space, isOperator }: SettingsFormProps): JSX.Element {
  const { id, name, paused } = space;
  const { tokensPerDay, costPerDay, runsPerMinute } = budgetOf(space);
  return (
    <SaveForm
      request={{ method: 'PATCH', path: spacePath(id) }}
      loaded={space}
      submit="Save settings"
      label="Settings"
      bodyWith={(body) => routerChange(body, space)}
    >
      <TextField name="/name" label="Name" value={name} required />
      <WhoAnswers space={space} isOperator={isOperator} />
      <CheckField
        name="/paused"
        label="Paused"
        hint="No message wakes an agent. People can still write."
        value={paused}
      />
      <fieldset class="choice-field">
        <legend>Limits</legend>
        <div class="columns">
          <NumberField
            name="/budget/tokensPerDay"
            label="Tokens per day"
            value={tokensPerDay}
            min={0}
            placeholder="No limit"
          />
          <NumberField
            name="/budget/costPerDay"
            label="Dollars per day"
            value={costPerDay}
            min={0}
            step="any"
            placeholder="No limit"
          />
          <NumberField
            name="/budget/runsPerMinute"
            label="Runs per minute"
            value={runsPerMinute}
            min={1}
            {...(!isOperator && { max: Math.max(OWNER_LIMITS.runsPerMinute, runsPerMinute) })}
            required
          />
        </div>
        {isOperator ? <Today id={id} budget={budgetOf(space)} /> : null}
      </fieldset>
    </SaveForm>
  );
}

// Only the operator may read the usage of a space.
function Today({ id, budget }: { id: string; budget: Schemas['Budget'] }) {
  const day = new Date().toISOString().slice(0, 10);
  const { answer, error, reload } = useAnswer<Schemas['UsageReport']>(
    `${spacePath(id, 'usage')}?from=${day}&to=${day}`,
  );
  useActivity(reload);
  if (error) return <p class="problem">{`Today’s use is unknown: ${error.message}`}</p>;
  return (
    <p class="note">
      {answer ? `Used today (UTC): ${todayText(answer.total, budget)}` : 'Loading today’s use…'}
    </p>
  );
}
