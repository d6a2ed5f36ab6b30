// What an operator wants to know first, on the page with the spaces: how much runs, waits and has
// failed, and what runs now.

import type { Run } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { listHash, runHash } from '../navigation/address.ts';
import { ActionButton } from '../studio/frame/action_button.tsx';
import { lastDays } from '../studio/usage/report.ts';
import { useNow } from '../ui/now.ts';
import { spanText } from '../ui/times.ts';
import { costText } from '../why/words.ts';
import { countText, useToday, type Today } from './today.ts';
import { useNamed, type Named } from './use_named.ts';

const MOST_RUNNING = 5;

export function Overview(): JSX.Element | null {
  const today = useToday();
  const named = useNamed();
  if (!today) return null;
  return (
    <div class="overview">
      <Glance today={today} />
      {today.running.length > 0 ? <RunningNow runs={today.running} named={named} /> : null}
    </div>
  );
}

function Glance({ today: { running, waiting, failed, cost } }: { today: Today }) {
  const tiles = [
    ['Running', countText(running), listHash('runs', { status: 'running' }), ''],
    ['Waiting', countText(waiting), listHash('runs', { status: 'waiting_tool' }), ''],
    [
      'Failed, 24 h',
      countText(failed),
      listHash('runs', { status: 'failed' }),
      failed.length > 0 ? 'problem' : '',
    ],
    ['Cost today', costText(cost), listHash('usage', { ...lastDays(1, Date.now()) }), ''],
  ] as const;
  return (
    <ul class="glance" aria-label="At a glance">
      {tiles.map(([name, value, href, tone]) => (
        <li key={name}>
          <a href={href}>
            <span class="note">{name}</span> <strong class={tone}>{value}</strong>
          </a>
        </li>
      ))}
    </ul>
  );
}

function RunningNow({ runs, named }: { runs: readonly Run[]; named: Named }) {
  const client = useClient();
  const now = useNow(true);
  const stopAll = () => Promise.all(runs.map(({ id }) => client.runs.cancel(id)));
  return (
    <section aria-labelledby="running-now">
      <div class="inbox-head">
        <h2 id="running-now">Running now</h2>
        <ActionButton class="problem" act={stopAll}>
          Stop all
        </ActionButton>
      </div>
      <ul class="running-now">
        {runs.slice(0, MOST_RUNNING).map(({ id, agentId, activeSpaceId, createdAt, startedAt }) => {
          const spaceId = activeSpaceId ?? '';
          const name = named.agent(spaceId, agentId) || 'An agent';
          const lengthMs = now - Date.parse(startedAt ?? createdAt);
          return (
            <li key={id}>
              <a href={runHash(id)}>
                <strong>{name}</strong>
                {spaceId ? ` in ${named.space(spaceId)}` : ''}
                <span class="note">{` · ${spanText(lengthMs)}`}</span>
              </a>
              <ActionButton label={`Stop ${name}`} act={() => client.runs.cancel(id)}>
                Stop
              </ActionButton>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
