// What an operator wants to know first, on the page with the spaces: what is wrong, how much runs,
// waits and has failed, and what runs now.

import type { Run } from '@smartspace/client';
import { useClient, useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { hashOf, listHash, runHash } from '../navigation/address.ts';
import { ActionButton } from '../studio/frame/action_button.tsx';
import { lastDays } from '../studio/usage/report.ts';
import { useNow } from '../ui/now.ts';
import { spanText } from '../ui/times.ts';
import { isolated } from '../ui/visible.ts';
import { costText } from '../why/words.ts';
import type { Loop } from './loops.ts';
import { StopSpace } from './stop_space.tsx';
import { countText, useToday, type Today } from './today.ts';

const MOST_RUNNING = 5;

export function Overview(): JSX.Element | null {
  const today = useToday();
  const named = useNamed();
  if (!today) return null;
  return (
    <div class="overview">
      {today.loops.map((loop) => (
        <LoopNotice key={loop.spaceId} {...{ loop, named }} />
      ))}
      <Glance today={today} />
      {today.running.length > 0 ? <RunningNow runs={today.running} named={named} /> : null}
    </div>
  );
}

interface Named {
  space: (id: string) => string;
  agent: (spaceId: string, id: string) => string;
}

// The list of spaces knows the names of their members.
function useNamed(): Named {
  const client = useClient();
  const { spaces } = useSpaces();
  return {
    space: (id) => isolated(spaces.find((each) => each.id === id)?.name ?? 'a space'),
    agent: (spaceId, id) => isolated(client.space(spaceId).nameOf(id)),
  };
}

function LoopNotice({ loop, named }: { loop: Loop; named: Named }) {
  const { spaceId, agentIds, runs, depth } = loop;
  const names = agentIds.map((id) => named.agent(spaceId, id));
  const who = new Intl.ListFormat('en').format(names);
  return (
    <section class="alarm" aria-labelledby={`loop-${spaceId}`}>
      <h2 id={`loop-${spaceId}`}>
        {names.length > 1 ? `${who} answer each other` : `${who} answers itself`}
      </h2>
      <p>{`${runs} runs in a minute in ${named.space(spaceId)}, depth ${depth}.`}</p>
      <div class="ask-row">
        <StopSpace spaceId={spaceId}>{`Stop all and pause ${named.space(spaceId)}`}</StopSpace>
        <a class="button" href={hashOf(spaceId)}>
          Look
        </a>
      </div>
    </section>
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
