// The runs of the open space, with their costs.

import type { Run } from '@smartspace/client';
import { useClient, useRuns } from '@smartspace/react';
import { useEffect, useState } from 'preact/hooks';
import { spacePath } from '../api/paths.ts';

const PAGE = 200;
const MOST_PAGES = 5;
const DELAY_MS = 300; // Between an event and the call that follows it.

/** The loaded runs. */
export interface SpaceRuns {
  /** By their ids; null until they are loaded. */
  runs: ReadonlyMap<string, Run> | null;
  error: Error | null;
}

/**
 * The runs that messages of the space have triggered since this time. They are loaded again when
 * the outcome of a message changes.
 */
export function useSpaceRuns(spaceId: string, since: string | undefined): SpaceRuns {
  const client = useClient();
  const { outcomes, active } = useRuns();
  const [state, setState] = useState<SpaceRuns>({ runs: null, error: null });
  useEffect(() => {
    if (since === undefined) return;
    const stop = new AbortController();
    const { signal } = stop;
    const load = async () => {
      const runs = new Map<string, Run>();
      const path = `${spacePath(spaceId, 'runs')}?limit=${PAGE}`;
      let cursor: string | null = null;
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const from: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const answer: { items: Run[]; nextCursor?: string | null } = await client.request(
          'GET',
          path + from,
          { signal, retry: true },
        );
        for (const run of answer.items) runs.set(run.id, run);
        cursor = answer.nextCursor ?? null;
        const last = answer.items.at(-1);
        if (cursor === null || (last && last.createdAt < since)) break;
      }
      return runs;
    };
    const timer = setTimeout(() => {
      load().then(
        (runs) => !signal.aborted && setState({ runs, error: null }),
        (error) => !signal.aborted && setState((before) => ({ ...before, error })),
      );
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [client, spaceId, since, outcomes, active]);
  return state;
}
