// The plans of an agent, which trigger it later, once or repeatedly.

import type { Run, Schemas } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { newKey } from '../../../api/idempotency_key.ts';
import { agentPath } from '../../../api/paths.ts';
import { runHash } from '../../../navigation/address.ts';
import { isolated } from '../../../ui/visible.ts';
import { ActionButton } from '../../frame/action_button.tsx';
import { Loaded, Part } from '../../frame/page.tsx';
import { ManagedBy } from '../../managed/managed_by.tsx';
import { Ago } from '../../runs/ago.tsx';
import { Folded } from './folded.tsx';
import { PlanForm } from './plan_form.tsx';
import { ownZone, scheduleWords, timeText } from './plan_words.ts';
import { RecordItem, useRecords, type RecordLineProps } from './record.tsx';

type Plan = Schemas['Page_ListedPlan']['items'][number];

/** The tab with the plans of an agent. */
export function Plans({ agentId }: { agentId: string }): JSX.Element {
  const path = agentPath(agentId, 'plans');
  const { items, isLoading, error, reload } = useRecords<Plan>(path);
  return (
    <>
      <Part title="Plans">
        <Loaded
          isLoading={isLoading}
          error={error}
          isEmpty={items.length === 0}
          empty={
            'The agent has no plan. A plan triggers it later, once or repeatedly. It makes plans ' +
            'when it calls set_plans, or you add one below.'
          }
        >
          <ul class="records" aria-label="Plans">
            {items.map((plan) => (
              <PlanLine
                key={plan.id}
                record={plan}
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

function PlanLine({ record: plan, path, onChanged }: RecordLineProps<Plan>) {
  const { name, status, instruction } = plan;
  return (
    <RecordItem
      {...{ path, onChanged }}
      title={name}
      about={<span class="badge">{status}</span>}
      actions={<PlanActions record={plan} {...{ path, onChanged }} />}
      verb="Change"
      question={`Delete the plan “${isolated(name)}”? It does not fire again.`}
      editor={(editor) => (
        <PlanForm
          plan={plan}
          label={`Change ${isolated(name)}`}
          request={{ method: 'PUT', path }}
          {...editor}
        />
      )}
    >
      <Times plan={plan} />
      <ManagedBy managedBy={plan.managedBy} />
      <Folded text={instruction} />
    </RecordItem>
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

function PlanActions({ record: { name, status }, path, onChanged }: RecordLineProps<Plan>) {
  const client = useClient();
  const [runId, setRunId] = useState<string | null>(null);
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
  return (
    <>
      <span role="status">{runId ? <a href={runHash(runId)}>Open its run</a> : null}</span>
      <ActionButton label={`Run ${isolated(name)} now`} act={run}>
        Run now
      </ActionButton>
      <ActionButton label={`${isPaused ? 'Resume' : 'Pause'} ${isolated(name)}`} act={setStatus}>
        {isPaused ? 'Resume' : 'Pause'}
      </ActionButton>
    </>
  );
}
