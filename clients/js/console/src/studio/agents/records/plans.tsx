// What triggers an agent later, once or repeatedly.

import type { Run, Schemas } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { runHash } from '../../../navigation/address.ts';
import { newKey } from '../../../api/idempotency_key.ts';
import { agentPath } from '../../../api/paths.ts';
import { Ago } from '../../runs/ago.tsx';
import { ActionButton } from '../../frame/action_button.tsx';
import { useActivity, useAll } from '../../data/data.ts';
import { Loaded, Part } from '../../frame/page.tsx';
import { Folded } from './folded.tsx';
import { PlanForm } from './plan_form.tsx';
import { ownZone, scheduleWords, timeText } from './plan_words.ts';

type Plan = Schemas['Page_ListedPlan']['items'][number];

/** The tab with the plans of an agent. */
export function Plans({ agentId }: { agentId: string }): JSX.Element {
  const path = agentPath(agentId, 'plans');
  const { items, isLoading, error, reload } = useAll<Plan>(`${path}?limit=200`);
  useActivity(reload);
  return (
    <>
      <Part title="Plans">
        <Loaded
          isLoading={isLoading}
          error={error}
          isEmpty={items.length === 0}
          empty="The agent has no plan. A plan triggers it later, once or repeatedly. It makes plans when it calls set_plans, or you add one below."
        >
          <ul class="records" aria-label="Plans">
            {items.map((plan) => (
              <PlanLine
                key={plan.id}
                plan={plan}
                path={agentPath(agentId, 'plans', plan.id)}
                onChanged={reload}
              />
            ))}
          </ul>
        </Loaded>
      </Part>
      <Part title="Add a plan">
        <PlanForm
          plan={null}
          label="Add a plan"
          request={{ method: 'POST', path }}
          onSaved={reload}
        />
      </Part>
    </>
  );
}

interface LineProps {
  plan: Plan;
  path: string;
  onChanged: () => void;
}

function PlanLine({ plan, path, onChanged }: LineProps) {
  const [isEditing, setIsEditing] = useState(false);
  const saved = () => {
    setIsEditing(false);
    onChanged();
  };
  return (
    <li>
      <div class="record-head">
        <h3 dir="auto">{plan.name}</h3>
        <span class="badge">{plan.status}</span>
        {isEditing ? null : (
          <PlanActions
            plan={plan}
            path={path}
            onChanged={onChanged}
            onEdit={() => setIsEditing(true)}
          />
        )}
      </div>
      {isEditing ? (
        <PlanForm
          plan={plan}
          label={`Change ${plan.name}`}
          request={{ method: 'PUT', path }}
          onSaved={saved}
          actions={
            <button type="button" class="quiet" onClick={() => setIsEditing(false)}>
              Cancel
            </button>
          }
        />
      ) : (
        <>
          <Times plan={plan} />
          <Folded text={plan.instruction} />
        </>
      )}
    </li>
  );
}

function Times({ plan }: { plan: Plan }) {
  const { nextRunAt, lastRunAt, nextRuns } = plan;
  const isElsewhere = plan.type === 'cron' && plan.timezone !== ownZone();
  return (
    <>
      <p>
        {scheduleWords(plan)}
        {plan.type === 'cron' ? (
          <span class="note">
            {' '}
            <code>{plan.cron}</code> in {plan.timezone}
          </span>
        ) : null}
      </p>
      <p class="note">
        {nextRunAt === null ? (
          'No next time: the plan is paused.'
        ) : (
          <>
            {plan.status === 'paused' ? 'Would run next ' : 'Next '}
            <Ago at={nextRunAt} />
            {`: ${timeText(nextRunAt)}, your time`}
            {isElsewhere ? ` (${timeText(nextRunAt, plan.timezone)} in ${plan.timezone})` : ''}
          </>
        )}
        {lastRunAt === null ? null : (
          <>
            {' · last '}
            <Ago at={lastRunAt} />
          </>
        )}
      </p>
      {nextRuns.length > 1 ? (
        <details class="note">
          <summary>{`The next ${nextRuns.length} times`}</summary>
          <ol>
            {nextRuns.map((at) => (
              <li key={at}>{timeText(at)}</li>
            ))}
          </ol>
        </details>
      ) : null}
    </>
  );
}

function PlanActions({ plan, path, onChanged, onEdit }: LineProps & { onEdit: () => void }) {
  const client = useClient();
  const [runId, setRunId] = useState<string | null>(null);
  const { name, status } = plan;
  const isPaused = status === 'paused';
  const run = async () => {
    const started = await client.request<Run>('POST', `${path}/run`, {
      idempotencyKey: newKey(),
      retry: true,
    });
    setRunId(started.id);
    onChanged();
  };
  const setStatus = async () => {
    const body = { status: isPaused ? 'active' : 'paused' };
    await client.request('PUT', path, { body, retry: true });
    onChanged();
  };
  const remove = async () => {
    await client.request('DELETE', path, { retry: true });
    onChanged();
  };
  return (
    <div class="row-actions">
      <span role="status">{runId ? <a href={runHash(runId)}>Open its run</a> : null}</span>
      <ActionButton label={`Run ${name} now`} act={run}>
        Run now
      </ActionButton>
      <ActionButton label={`${isPaused ? 'Resume' : 'Pause'} ${name}`} act={setStatus}>
        {isPaused ? 'Resume' : 'Pause'}
      </ActionButton>
      <button type="button" class="quiet" aria-label={`Change ${name}`} onClick={onEdit}>
        Change
      </button>
      <ActionButton
        label={`Delete ${name}`}
        confirm={`Delete the plan “${name}”? It does not fire again.`}
        act={remove}
      >
        Delete
      </ActionButton>
    </div>
  );
}
