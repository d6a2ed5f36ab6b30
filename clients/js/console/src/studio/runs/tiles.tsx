// The tiles above the table of runs: what runs, waits and has failed, and what it costs.

import type { Schemas } from '@smartspace/client';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { listHash } from '../../navigation/address.ts';
import { isolated } from '../../ui/visible.ts';
import { costText } from '../../why/words.ts';
import { useAnswer } from '../data/answer.ts';
import type { Pages } from '../data/pages.ts';
import { changeText, costsOf, costsPath, type Costs } from '../usage/costs.ts';
import { dayOf } from '../usage/report.ts';
import type { ListedRun } from './listed.ts';
import type { RunFilters } from './query.ts';
import { spanText } from './words.ts';

const RELOAD_MS = 30_000;
const PAGE = 50; // As long as the API makes it.

export interface TilesProps {
  filters: RunFilters;
  running: Pages<ListedRun>;
  waiting: Pages<ListedRun>;
  failed: Pages<ListedRun>;
  now: number;
  agentName: (id: string) => string;
}

/** Five tiles. Each leads to what it counts. */
export function Tiles(props: TilesProps): JSX.Element {
  const { filters, running, waiting, failed, now, agentName } = props;
  const { answer } = useCosts(now);
  const costs = answer && costsOf(answer.items, now);
  const ofState = (status: string) => {
    const isCurrent = filters.status === status;
    const href = listHash('runs', { ...filters, status: isCurrent ? '' : status });
    return { href, isCurrent };
  };
  const today = dayOf(now);
  return (
    <ul class="tiles" aria-label="At a glance">
      <Tile name="Running" value={countText(running)} {...ofState('running')}>
        {longestText(running.items, now, agentName)}
      </Tile>
      <Tile name="Waiting" value={countText(waiting)} {...ofState('waiting_tool')}>
        {oldestText(waiting.items, now)}
      </Tile>
      <Tile
        name={`Failed, ${FAILED_IN[filters.since] ?? '24 h'}`}
        value={countText(failed)}
        isProblem={failed.items.length > 0}
        {...ofState('failed')}
      >
        {failuresText(failed.items, agentName)}
      </Tile>
      <Tile
        name="Cost today"
        value={costs ? costText(costs.today) : '–'}
        href={listHash('usage', { from: today, to: today })}
      >
        {costs ? <Change costs={costs} /> : null}
      </Tile>
      <li class="tile">
        <span>{costs && !costs.isByHour ? 'Cost a day' : 'Cost an hour'}</span>
        {costs ? <Bars costs={costs} /> : null}
      </li>
    </ul>
  );
}

const FAILED_IN: Record<string, string> = { hour: '1 h', day: '24 h', week: '7 days' };

interface TileProps {
  name: string;
  value: string;
  href: string;
  /** It is the filter of the table. */
  isCurrent?: boolean;
  isProblem?: boolean;
  children: ComponentChildren;
}

const Tile = ({ name, value, href, isCurrent, isProblem, children }: TileProps) => (
  <li>
    <a
      class={isProblem ? 'tile bad' : 'tile'}
      href={href}
      aria-current={isCurrent ? 'true' : undefined}
    >
      <span>{name}</span> <strong>{value}</strong> <span class="note">{children}</span>
    </a>
  </li>
);

function Change({ costs: { change } }: { costs: Costs }) {
  if (change === null) return <>nothing in the 7 days before</>;
  return (
    <span class={change >= 100 ? 'rise' : undefined}>
      {`${changeText(change)} against the last 7 days`}
    </span>
  );
}

function Bars({ costs: { bars, isByHour } }: { costs: Costs }) {
  const highest = Math.max(...bars.map(({ cost }) => cost));
  const words = `Highest ${isByHour ? 'hour' : 'day'}: ${costText(highest)}`;
  return (
    <span class="spark" role="img" aria-label={words}>
      {bars.map(({ key, cost }) => (
        <span
          key={key}
          title={`${key} · ${costText(cost)}`}
          style={{ height: `${highest > 0 ? (100 * cost) / highest : 0}%` }}
        />
      ))}
    </span>
  );
}

// The sums change with each run, but a minute sooner or later is all the same.
function useCosts(now: number) {
  const path = costsPath(now);
  const costs = useAnswer<Schemas['UsageReport']>(path);
  const latest = useRef(costs.reload);
  latest.current = costs.reload;
  useEffect(() => {
    const timer = setInterval(() => document.hidden || latest.current(), RELOAD_MS);
    return () => clearInterval(timer);
  }, []);
  return useMemo(() => ({ answer: costs.answer }), [costs.answer]);
}

// A list with a filter may have another page that is empty.
const countText = ({ items, hasMore }: Pages<ListedRun>) =>
  `${items.length}${hasMore && items.length >= PAGE ? '+' : ''}`;

function longestText(
  runs: readonly ListedRun[],
  now: number,
  agentName: (id: string) => string,
): string {
  const started = runs.filter(({ startedAt }) => startedAt !== null);
  const [first] = started.sort((one, other) =>
    (one.startedAt ?? '') < (other.startedAt ?? '') ? -1 : 1,
  );
  if (!first) return 'nothing at work';
  const length = spanText(Math.max(0, now - Date.parse(first.startedAt ?? '')));
  return `longest ${length} · ${isolated(agentName(first.agentId))}`;
}

function oldestText(runs: readonly ListedRun[], now: number): string {
  const oldest = Math.min(...runs.map(({ createdAt }) => Date.parse(createdAt)));
  return runs.length === 0
    ? 'nothing waits'
    : `for people · oldest ${spanText(Math.max(0, now - oldest))}`;
}

// The reason, if all of them share one.
function failuresText(runs: readonly ListedRun[], agentName: (id: string) => string): string {
  if (runs.length === 0) return 'none';
  const codes = [...new Set(runs.map(({ error }) => error?.code ?? 'no reason'))];
  const names = [...new Set(runs.map(({ agentId }) => isolated(agentName(agentId))))];
  const who = names.length === 1 ? names.join('') : `${names.length} agents`;
  const [code = ''] = codes;
  return codes.length === 1
    ? `${runs.length > 1 ? 'all ' : ''}${code.replaceAll('_', ' ')} · ${who}`
    : `${codes.length} reasons · ${who}`;
}
