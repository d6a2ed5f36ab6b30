// The filters of the page of runs: from the address to paths of the API. Pure.

import type { Sorting } from './chains.ts';

const HOUR_MS = 3_600_000;
const AGES: Record<string, number> = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 168 * HOUR_MS };
// A form is open for a week at most.
const LONGEST_WAIT_MS = 8 * 24 * HOUR_MS;

/** The filters that the page knows. An empty one does not filter. */
export const FILTERS = ['status', 'agentId', 'spaceId', 'since', 'until', 'trigger'] as const;

/** The filters in the order of the address. */
export type RunFilters = Record<(typeof FILTERS)[number], string>;

/** How the table shows the runs: their order, and whether it groups them by chain. */
export interface RunView {
  sort: Sorting;
  /** `run`: each run is a row. */
  group: '' | 'run';
}

/** The filters of an address. */
export function filtersOf(query: URLSearchParams): RunFilters {
  const entries = FILTERS.map((name) => [name, query.get(name) ?? '']);
  return Object.fromEntries(entries) as RunFilters;
}

/** How an address shows the runs. */
export function viewOf(query: URLSearchParams): RunView {
  const sort = query.get('sort');
  return {
    sort: sort === 'time' || sort === 'cost' ? sort : '',
    group: query.get('group') === 'run' ? 'run' : '',
  };
}

/** Whether a filter is set. */
export const isFiltered = (filters: RunFilters): boolean =>
  Object.values(filters).some((value) => value !== '');

/**
 * The path of the list with these filters, with what each run was asked and has said. `since` is
 * `hour`, `day`, `week`, or a time; something else does not filter.
 */
export function runsPath(filters: Partial<RunFilters>, now: number): string {
  const query = new URLSearchParams({ messages: 'true' });
  for (const name of FILTERS) {
    const value = name === 'since' ? sinceOf(filters.since ?? '', now) : filters[name];
    if (value) query.set(name, value);
  }
  return `/v1/runs?${query}`;
}

/** The path of the runs that wait for an answer. */
export const waitingPath = (filters: RunFilters, now: number): string =>
  runsPath(
    {
      ...filters,
      status: 'waiting_tool',
      since: filters.since || new Date(now - LONGEST_WAIT_MS).toISOString(),
    },
    now,
  );

/** The path of the runs that have failed: in the time of the filters, or in the last day. */
export const failedPath = (filters: RunFilters, now: number): string =>
  runsPath({ ...filters, status: 'failed', since: filters.since || 'day' }, now);

function sinceOf(since: string, now: number): string {
  const ageMs = AGES[since];
  if (ageMs !== undefined) return new Date(now - ageMs).toISOString();
  return Number.isNaN(Date.parse(since)) ? '' : since;
}
