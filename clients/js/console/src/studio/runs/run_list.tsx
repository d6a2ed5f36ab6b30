// A table of runs by chain. In a narrow window each row is a block.

import { useInbox, useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useNow } from '../../ui/now.ts';
import { useActivity } from '../data/activity.ts';
import type { Pages } from '../data/pages.ts';
import { Loaded, More } from '../frame/page.tsx';
import { TableHead } from '../frame/table_head.tsx';
import { ChainRow } from './chain_row.tsx';
import { groupsOf, singles, sorted, type Sorting } from './chains.ts';
import type { ListedRun } from './listed.ts';
import { useRunMessages } from './run_messages.ts';
import { RunRow } from './run_row.tsx';
import type { RunTable } from './run_table.ts';
import { isActive } from './words.ts';

const NUMBERS = ['Took', 'Steps', 'Tokens', 'Cost'];

const POLL_MS = 10_000;

export interface RunListProps {
  /** The table's name. */
  label: string;
  pages: Pages<ListedRun>;
  /** Shown if there is no run. */
  empty: string;
  /** The name of an agent. Without it, the column of the agent is left out. */
  agentName?: ((id: string) => string) | undefined;
  sorting?: Sorting;
  /** Each run is a row. */
  isFlat?: boolean;
  /** Called after a run was stopped or repeated. */
  onChanged: () => void;
}

/** The runs of a list, page by page. */
export function RunList(props: RunListProps): JSX.Element {
  const { label, pages, empty, sorting = 'time', isFlat, ...rest } = props;
  const { items, isLoading, error } = pages;
  const table = useTable(items, rest.agentName, rest.onChanged);
  const { messages } = table;
  const groups = useMemo(
    () => (isFlat ? singles(items) : groupsOf(items, messages)),
    [isFlat, items, messages],
  );
  return (
    <Loaded isLoading={isLoading} error={error} isEmpty={items.length === 0} empty={empty}>
      <table class="list runs" aria-label={label}>
        <TableHead
          columns={[
            'State',
            ...(rest.agentName ? ['Agent'] : []),
            'What set it off → what came of it',
            'Time',
            ...NUMBERS,
          ]}
          numbers={NUMBERS}
        />
        <tbody>
          {sorted(groups, sorting).map((group) => {
            const [only, ...others] = group.runs;
            return others.length === 0 && only ? (
              <RunRow key={group.key} run={only} table={table} />
            ) : (
              <ChainRow key={group.key} group={group} table={table} />
            );
          })}
        </tbody>
      </table>
      <More pages={pages} />
    </Loaded>
  );
}

function useTable(
  items: readonly ListedRun[],
  agentName: RunTable['agentName'],
  onChanged: () => void,
): RunTable {
  const now = useNow(items.some(isActive));
  const messages = useRunMessages(items);
  const { items: cards } = useInbox();
  const { spaces } = useSpaces();
  const byId = useMemo(() => new Map(spaces.map((space) => [space.id, space])), [spaces]);
  const waiting = useMemo(() => new Map(cards.map((card) => [card.runId, card])), [cards]);
  // A run is repeated once, by the run that names it.
  const repeats = useMemo(
    () => new Map(items.flatMap(({ id, retryOf }) => (retryOf ? [[retryOf, id] as const] : []))),
    [items],
  );
  const spaceOf = ({ activeSpaceId }: ListedRun) => byId.get(activeSpaceId ?? '');
  return { now, agentName, messages, waiting, repeats, spaceOf, onChanged };
}

/**
 * Loads a list again when something happens. Runs of plans and services happen outside of spaces,
 * so a list with active runs is also loaded every few seconds.
 */
export function useLiveRuns(reload: () => void, runs: readonly ListedRun[]): void {
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
