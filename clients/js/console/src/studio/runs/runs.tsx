// The runs of all agents in one table, filtered by the address. First comes what runs, what waits
// for people and what has failed.

import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useNow } from '../../ui/now.ts';
import { usePages, type Pages } from '../data/pages.ts';
import { ActionButton } from '../frame/action_button.tsx';
import { Page } from '../frame/page.tsx';
import { Filters } from './filters.tsx';
import type { ListedRun } from './listed.ts';
import { useNames } from './names.ts';
import { failedPath, filtersOf, isFiltered, runsPath, viewOf, waitingPath } from './query.ts';
import { RunList, useLiveRuns } from './run_list.tsx';
import { Tiles } from './tiles.tsx';

export function Runs({ filters: query }: { filters: URLSearchParams }): JSX.Element {
  const text = query.toString();
  const filters = useMemo(() => filtersOf(new URLSearchParams(text)), [text]);
  const view = viewOf(query);
  const names = useNames();
  // A path with the present time in it must stay the same.
  const paths = useMemo(() => {
    const now = Date.now();
    return {
      running: runsPath({ ...filters, status: 'running' }, now),
      waiting: waitingPath(filters, now),
      failed: failedPath(filters, now),
      // A chain has many runs, and is one row.
      listed: longer(runsPath(filters, now)),
    };
  }, [filters]);
  const running = usePages<ListedRun>(paths.running);
  const waiting = usePages<ListedRun>(paths.waiting);
  const failed = usePages<ListedRun>(paths.failed);
  const listed = usePages<ListedRun>(paths.listed);
  const reload = () => [running, waiting, failed, listed].forEach((pages) => pages.reload());
  useLiveRuns(reload, listed.items);
  const now = useNow(true);
  // Those that need a person come first, even if many are newer.
  const isUrgentFirst = filters.status === '' && view.sort === '';
  const items = useMemo(
    () => merged(isUrgentFirst ? [running, waiting, failed, listed] : [listed]),
    [isUrgentFirst, running.items, waiting.items, failed.items, listed.items],
  );
  const { agentName } = names;
  return (
    <Page title="Runs" actions={<StopAll runs={running.items} onChanged={reload} />}>
      <Tiles {...{ filters, running, waiting, failed, now, agentName }} />
      <Filters filters={filters} view={view} names={names} />
      <RunList
        label="Runs"
        pages={{ ...listed, items, error: listed.error ?? names.error }}
        empty={emptyText(isFiltered(filters))}
        agentName={agentName}
        sorting={view.sort}
        isFlat={view.group === 'run'}
        onChanged={reload}
      />
    </Page>
  );
}

function StopAll({ runs, onChanged }: { runs: readonly ListedRun[]; onChanged: () => void }) {
  const client = useClient();
  // A single one has its button in its row.
  if (runs.length < 2) return null;
  const stop = async () => {
    await Promise.all(runs.map(({ id }) => client.runs.cancel(id)));
    onChanged();
  };
  const words = `Stop all ${runs.length}`;
  return (
    <ActionButton class="danger" confirm={`${words}? Runs that wait for people go on.`} act={stop}>
      {words}
    </ActionButton>
  );
}

const longer = (path: string) => `${path}&limit=100`;

// Each run once.
const merged = (lists: readonly Pages<ListedRun>[]): ListedRun[] => [
  ...new Map(lists.flatMap(({ items }) => items).map((run) => [run.id, run])).values(),
];

const emptyText = (isFiltered: boolean) =>
  isFiltered
    ? 'No run fits these filters.'
    : 'Each time a message, a plan or a service triggers an agent, its run is listed here. ' +
      'Write to an agent in a space to make one.';
