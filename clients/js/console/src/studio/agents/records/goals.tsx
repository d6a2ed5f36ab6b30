// What an agent is to achieve, by status.

import type { Schemas } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { agentPath } from '../../../api/paths.ts';
import { Ago } from '../../runs/ago.tsx';
import { ActionButton } from '../../frame/action_button.tsx';
import { useActivity, useAll, useKnown } from '../../data/data.ts';
import { Loaded, Part } from '../../frame/page.tsx';
import { Folded } from './folded.tsx';
import { AddGoal, ChangeGoal } from './goal_form.tsx';
import { goalsIn, priorityWords } from './goal_words.ts';

type Goal = Schemas['Goal'];

/** The tab with the goals of an agent. */
export function Goals({ agentId }: { agentId: string }): JSX.Element {
  const path = agentPath(agentId, 'goals');
  const { items, isLoading, error, reload } = useAll<Goal>(`${path}?limit=200`);
  useActivity(reload);
  const known = useKnown({ taken: items.map(({ id }) => id), error }, isLoading);
  const list = (title: string, goals: readonly Goal[]) => (
    <ul class="records" aria-label={title}>
      {goals.map((goal) => (
        <GoalLine
          key={goal.id}
          goal={goal}
          path={agentPath(agentId, 'goals', goal.id)}
          onChanged={reload}
        />
      ))}
    </ul>
  );
  const active = goalsIn(items, 'active');
  const completed = goalsIn(items, 'completed');
  const abandoned = goalsIn(items, 'abandoned');
  return (
    <>
      <Part title="Active goals">
        <Loaded
          isLoading={isLoading}
          error={error}
          isEmpty={active.length === 0}
          empty="The agent has no active goal. It sets goals when it calls set_goals, or you add one below. Its prompt shows them."
        >
          {list('Active goals', active)}
        </Loaded>
      </Part>
      {completed.length > 0 ? (
        <Part title="Completed goals">{list('Completed goals', completed)}</Part>
      ) : null}
      {abandoned.length > 0 ? (
        <Part title="Abandoned goals">{list('Abandoned goals', abandoned)}</Part>
      ) : null}
      <AddGoal agentId={agentId} known={known} onSaved={reload} />
    </>
  );
}

interface LineProps {
  goal: Goal;
  path: string;
  onChanged: () => void;
}

function GoalLine({ goal, path, onChanged }: LineProps) {
  const [isEditing, setIsEditing] = useState(false);
  const saved = () => {
    setIsEditing(false);
    onChanged();
  };
  return (
    <li>
      <div class="record-head">
        <h3 dir="auto">{goal.id}</h3>
        <span class="badge">{priorityWords(goal.priority)}</span>
        {goal.longTerm ? <span class="badge">long-term</span> : null}
        {isEditing ? null : (
          <GoalActions
            goal={goal}
            path={path}
            onChanged={onChanged}
            onEdit={() => setIsEditing(true)}
          />
        )}
      </div>
      {isEditing ? (
        <ChangeGoal goal={goal} path={path} onSaved={saved} onCancel={() => setIsEditing(false)} />
      ) : (
        <>
          <Folded text={goal.description} />
          <p class="note">
            {goal.dueAt ? (
              <>
                <Due at={goal.dueAt} isOpen={goal.status === 'active'} />
                {' · '}
              </>
            ) : null}
            changed <Ago at={goal.updatedAt} />
          </p>
        </>
      )}
    </li>
  );
}

function Due({ at, isOpen }: { at: string; isOpen: boolean }) {
  const isLate = isOpen && Date.parse(at) < Date.now();
  return (
    <span class={isLate ? 'problem' : undefined}>
      {isLate ? 'overdue: was due ' : 'due '}
      {new Date(at).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}
      {' ('}
      <Ago at={at} />
      {')'}
    </span>
  );
}

function GoalActions({ goal, path, onChanged, onEdit }: LineProps & { onEdit: () => void }) {
  const client = useClient();
  const { id, status } = goal;
  const put = (next: Goal['status']) => async () => {
    await client.request('PUT', path, { body: { status: next }, retry: true });
    onChanged();
  };
  const remove = async () => {
    await client.request('DELETE', path, { retry: true });
    onChanged();
  };
  return (
    <div class="row-actions">
      {status === 'active' ? (
        <>
          <ActionButton label={`Complete ${id}`} act={put('completed')}>
            Complete
          </ActionButton>
          <ActionButton label={`Abandon ${id}`} act={put('abandoned')}>
            Abandon
          </ActionButton>
        </>
      ) : (
        <ActionButton label={`Reopen ${id}`} act={put('active')}>
          Reopen
        </ActionButton>
      )}
      <button type="button" class="quiet" aria-label={`Change ${id}`} onClick={onEdit}>
        Change
      </button>
      <ActionButton
        label={`Delete ${id}`}
        confirm={`Delete the goal “${id}”? This can’t be undone.`}
        act={remove}
      >
        Delete
      </ActionButton>
    </div>
  );
}
