// The runs of all agents, filtered by the address. Without a filter of the state, the runs that
// need a person come first.

import type { Run } from '@smartspace/client';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { usePages, type Pages } from '../data/pages.ts';
import { Page, Part } from '../frame/page.tsx';
import { Filters, STATUSES } from './filters.tsx';
import { useNames, type Names } from './names.ts';
import { failedPath, filtersOf, runsPath, waitingPath, type RunFilters } from './query.ts';
import { RunList, useLiveRuns } from './run_list.tsx';

const FAILED_IN: Record<string, string> = {
  '': 'Failed in the last day',
  hour: 'Failed in the last hour',
  day: 'Failed in the last day',
  week: 'Failed in the last week',
};

export function Runs({ filters: query }: { filters: URLSearchParams }): JSX.Element {
  const text = query.toString();
  const filters = useMemo(() => filtersOf(new URLSearchParams(text)), [text]);
  const names = useNames();
  return (
    <Page title="Runs">
      <Filters filters={filters} names={names} />
      {filters.status === '' ? (
        <AllRuns filters={filters} names={names} />
      ) : (
        <RunsInState filters={filters} names={names} />
      )}
    </Page>
  );
}

interface ListProps {
  filters: RunFilters;
  names: Names;
}

function AllRuns({ filters, names }: ListProps) {
  // A path with the present time in it must stay the same.
  const paths = useMemo(() => {
    const now = Date.now();
    return {
      waiting: waitingPath(filters, now),
      failed: failedPath(filters, now),
      all: runsPath(filters, now),
    };
  }, [filters]);
  const waiting = usePages<Run>(paths.waiting);
  const failed = usePages<Run>(paths.failed);
  const all = usePages<Run>(paths.all);
  const reload = () => [waiting, failed, all].forEach((pages) => pages.reload());
  useLiveRuns(reload, all.items);
  const failedTitle = FAILED_IN[filters.since] ?? 'Failed';
  const part = (title: string, pages: Pages<Run>, empty: string) => (
    <Part title={title}>
      <RunList
        label={title}
        pages={pages}
        empty={empty}
        agentName={names.agentName}
        onChanged={reload}
      />
    </Part>
  );
  return (
    <>
      {part('Waiting for an answer', waiting, 'No run waits for a person.')}
      {part(failedTitle, failed, 'No run has failed.')}
      {part('All runs, newest first', all, emptyText(filters))}
    </>
  );
}

function RunsInState({ filters, names }: ListProps) {
  const path = useMemo(() => runsPath(filters, Date.now()), [filters]);
  const pages = usePages<Run>(path);
  useLiveRuns(pages.reload, pages.items);
  const title = STATUSES.find(({ value }) => value === filters.status)?.text ?? filters.status;
  return (
    <Part title={`${title}, newest first`}>
      <RunList
        label={title}
        pages={pages}
        empty="No run fits these filters."
        agentName={names.agentName}
        onChanged={pages.reload}
      />
    </Part>
  );
}

const emptyText = (filters: RunFilters) =>
  Object.values(filters).some((value) => value !== '')
    ? 'No run fits these filters.'
    : 'Each time a message, a plan or a service triggers an agent, its run is listed here. ' +
      'Write to an agent in a space to make one.';
