// The forms that add and change a goal.

import type { Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { newKey } from '../../../api/idempotency_key.ts';
import { agentPath } from '../../../api/paths.ts';
import type { Known } from '../../data/known.ts';
import { Part } from '../../frame/page.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../save_form/fields.tsx';
import { SaveForm } from '../../save_form/save_form.tsx';
import { priorityWords } from './goal_words.ts';
import { localText, timeOf } from './local_time.ts';
import type { EditorProps } from './record.tsx';

type Goal = Schemas['Goal'];

const PRIORITIES = [1, 2, 3, 4, 5].map((n) => ({ value: String(n), text: priorityWords(n) }));

interface ChangeProps extends EditorProps {
  goal: Goal;
  path: string;
}

export const ChangeGoal = ({ goal, path, ...editor }: ChangeProps): JSX.Element => (
  <SaveForm
    label={`Change ${goal.id}`}
    request={{ method: 'PUT', path }}
    submit="Save"
    bodyWith={goalBody}
    {...editor}
  >
    <GoalFields goal={goal} />
  </SaveForm>
);

interface AddProps {
  agentId: string;
  /** The ids of all goals. */
  known: () => Promise<Known>;
  onSaved: () => void;
}

export function AddGoal({ agentId, known, onSaved }: AddProps): JSX.Element {
  const [id, setId] = useState('');
  // Stays the same when the request is repeated.
  const [ownId, setOwnId] = useState(newId);
  const saved = () => {
    setId('');
    setOwnId(newId());
    onSaved();
  };
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- the path has the id
  const body = async ({ id: _, ...rest }: Record<string, unknown>) => {
    // PUT would change the other goal without a question.
    const { taken, error } = await known();
    if (error) return 'The goals above could not be loaded. Try again in a moment.';
    if (taken.includes(id)) return 'There is a goal with this id. Change it in the list above.';
    return goalBody(rest);
  };
  return (
    <Part title="Add a goal">
      <SaveForm
        label="Add a goal"
        request={{ method: 'PUT', path: agentPath(agentId, 'goals', id || ownId) }}
        submit="Add"
        done="Added"
        bodyWith={body}
        onSaved={saved}
      >
        <div key={ownId} class="fieldset">
          <GoalFields goal={null} />
          <div onInput={({ target }) => setId((target as HTMLInputElement).value.trim())}>
            <TextField
              name="/id"
              label="Id"
              maxLength={128}
              hint={
                'The agent names the goal by its id. It can’t be changed. ' +
                'Empty: the page makes one.'
              }
            />
          </div>
        </div>
      </SaveForm>
    </Part>
  );
}

const newId = () => `goal-${newKey().split('-')[0]}`;

const GoalFields = ({ goal }: { goal: Goal | null }) => (
  <>
    <TextArea
      name="/description"
      label="What is to be achieved"
      value={goal?.description}
      required
    />
    <div class="columns">
      <SelectField
        name="/priority"
        label="Priority"
        value={String(goal?.priority ?? 3)}
        options={PRIORITIES}
      />
      <TextField
        type="datetime-local"
        name="/dueAt"
        label="Due"
        value={localText(goal?.dueAt ?? null)}
        hint="In your time zone. Empty: no date."
      />
    </div>
    <CheckField name="/longTerm" label="Long-term" value={goal?.longTerm ?? false} />
  </>
);

const goalBody = (body: Record<string, unknown>) => ({
  ...body,
  priority: Number(body['priority']),
  dueAt: timeOf(body['dueAt']),
});
