// A table of runs. In a narrow window each run is a block.

import type { Run } from '@smartspace/client';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useNow } from '../../ui/now.ts';
import { useActivity } from '../data/activity.ts';
import type { Pages } from '../data/pages.ts';
import { Loaded, More } from '../frame/page.tsx';
import { TableHead } from '../frame/table_head.tsx';
import { RunRow } from './run_row.tsx';
import { isActive } from './words.ts';

const NUMBERS = ['Duration', 'Steps', 'Tokens', 'Cost'];

const POLL_MS = 10_000;

export interface RunListProps {
  /** The table's name. */
  label: string;
  pages: Pages<Run>;
  /** Shown if there is no run. */
  empty: string;
  /** The name of an agent. Without it, the column of the agent is left out. */
  agentName?: ((id: string) => string) | undefined;
  /** Called after a run was stopped or repeated. */
  onChanged: () => void;
}

/** The runs of a list, page by page. */
export function RunList(props: RunListProps): JSX.Element {
  const { label, pages, empty, agentName, onChanged } = props;
  const { items, isLoading, error } = pages;
  const now = useNow(items.some(isActive));
  // A run is repeated once, by the run that names it.
  const repeats = new Map(items.map(({ id, retryOf }) => [retryOf, id]));
  return (
    <Loaded isLoading={isLoading} error={error} isEmpty={items.length === 0} empty={empty}>
      <table class="list runs" aria-label={label}>
        <TableHead
          columns={[
            'State',
            ...(agentName ? ['Agent'] : []),
            'Triggered by',
            'Started',
            ...NUMBERS,
          ]}
          numbers={NUMBERS}
        />
        <tbody>
          {items.map((run) => (
            <RunRow
              key={run.id}
              run={run}
              now={now}
              agentName={agentName}
              repeatedBy={repeats.get(run.id) ?? null}
              onChanged={onChanged}
            />
          ))}
        </tbody>
      </table>
      <More pages={pages} />
    </Loaded>
  );
}

/**
 * Loads a list again when something happens. Runs of plans and services happen outside of spaces,
 * so a list with active runs is also loaded every few seconds.
 */
export function useLiveRuns(reload: () => void, runs: readonly Run[]): void {
  useActivity(reload);
  const latest = useRef(reload);
  latest.current = reload;
  const hasActive = runs.some(isActive);
  useEffect(() => {
    if (!hasActive) return;
    const timer = setInterval(() => document.hidden || latest.current(), POLL_MS);
    return () => clearInterval(timer);
  }, [hasActive]);
}
