// The goals of an agent, by status.

import type { Schemas } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { agentPath } from '../../../api/paths.ts';
import { isolated } from '../../../ui/visible.ts';
import { useKnown } from '../../data/known.ts';
import { ActionButton } from '../../frame/action_button.tsx';
import { Loaded, Part } from '../../frame/page.tsx';
import { Ago } from '../../runs/ago.tsx';
import { Folded } from './folded.tsx';
import { AddGoal, ChangeGoal } from './goal_form.tsx';
import { goalsIn, priorityWords } from './goal_words.ts';
import { RecordItem, useRecords, type RecordLineProps } from './record.tsx';

type Goal = Schemas['Goal'];

/** The tab with the goals of an agent. */
export function Goals({ agentId }: { agentId: string }): JSX.Element {
  const path = agentPath(agentId, 'goals');
  const { items, isLoading, error, reload } = useRecords<Goal>(path);
  const known = useKnown({ taken: items.map(({ id }) => id), error }, isLoading);
  const list = (title: string, goals: readonly Goal[]) => (
    <ul class="records" aria-label={title}>
      {goals.map((goal) => (
        <GoalLine
          key={goal.id}
          record={goal}
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
          empty={
            'The agent has no active goal. It sets goals when it calls set_goals, or you add one ' +
            'below. Its prompt shows them.'
          }
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

function GoalLine({ record: goal, path, onChanged }: RecordLineProps<Goal>) {
  const { id, priority, longTerm, description, dueAt, status, updatedAt } = goal;
  return (
    <RecordItem
      {...{ path, onChanged }}
      title={id}
      about={
        <>
          <span class="badge">{priorityWords(priority)}</span>
          {longTerm ? <span class="badge">long-term</span> : null}
        </>
      }
      actions={<StatusButtons record={goal} {...{ path, onChanged }} />}
      verb="Change"
      question={`Delete the goal “${isolated(id)}”? This can’t be undone.`}
      editor={(editor) => <ChangeGoal goal={goal} path={path} {...editor} />}
    >
      <Folded text={description} />
      <p class="note">
        {dueAt ? (
          <>
            <Due at={dueAt} isOpen={status === 'active'} />
            {' · '}
          </>
        ) : null}
        changed <Ago at={updatedAt} />
      </p>
    </RecordItem>
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

function StatusButtons({ record: { id, status }, path, onChanged }: RecordLineProps<Goal>) {
  const client = useClient();
  const button = (text: string, next: Goal['status']) => (
    <ActionButton
      label={`${text} ${id}`}
      act={async () => {
        await client.request('PUT', path, { body: { status: next }, retry: true });
        onChanged();
      }}
    >
      {text}
    </ActionButton>
  );
  if (status !== 'active') return button('Reopen', 'active');
  return (
    <>
      {button('Complete', 'completed')}
      {button('Abandon', 'abandoned')}
    </>
  );
}
