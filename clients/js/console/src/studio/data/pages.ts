// A list of the HTTP API that comes in pages, as state of a component.

import type { Client } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { NextLoad } from './next_load.ts';

interface Page<T> {
  items: T[];
  nextCursor?: string | null;
}

export interface Pages<T> {
  items: readonly T[];
  hasMore: boolean;
  error: Error | null;
  isLoading: boolean;
  more: () => void;
  /** Loads the pages again that are shown. */
  reload: () => void;
}

/** The list at `GET path`, which may have a query. Null asks nothing. */
export function usePages<T>(path: string | null): Pages<T> {
  const client = useClient();
  const [state, setState] = useState<{ path: string | null; items: readonly T[] }>({
    path,
    items: [],
  });
  const [cursor, setCursor] = useState<string | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [isLoading, setIsLoading] = useState(path !== null);
  const work = useRef<AbortController | null>(null);
  const counts = useRef({ wanted: 1, shown: 0 }).current;
  const next = useRef(new NextLoad()).current;

  const load = useCallback(
    async (from: string | null, before: readonly T[], count: number) => {
      const { wanted } = counts;
      if (path === null) return;
      work.current?.abort();
      const stop = new AbortController();
      work.current = stop;
      next.begin();
      setIsLoading(true);
      setError(null);
      try {
        const { items, cursor: end } = await pagesFrom<T>(client, path, from, count, stop.signal);
        if (stop.signal.aborted) return;
        setState({ path, items: [...before, ...items] });
        setCursor(end);
        counts.shown = wanted;
      } catch (problem) {
        if (stop.signal.aborted) return;
        setError(problem as Error);
      }
      setIsLoading(false);
      next.end();
    },
    [client, path, next, counts],
  );
  useEffect(() => {
    Object.assign(counts, { wanted: 1, shown: 0 });
    void load(null, [], 1);
    return () => {
      work.current?.abort();
      next.forget();
    };
  }, [load, next, counts]);
  const isCurrent = state.path === path;
  const items = isCurrent ? state.items : [];
  const calls = useCalls({ load, next, counts, cursor, items });
  return { items, hasMore: isCurrent && cursor !== null, error, isLoading, ...calls };
}

interface Loads<T> {
  load: (from: string | null, before: readonly T[], count: number) => Promise<void>;
  next: NextLoad;
  /** How many pages are wanted, and how many are shown. */
  counts: { wanted: number; shown: number };
  cursor: string | null;
  items: readonly T[];
}

function useCalls<T>({ load, next, counts, cursor, items }: Loads<T>) {
  const more = useCallback(() => {
    const isAsked = counts.wanted > counts.shown;
    counts.wanted = counts.shown + 1;
    if (!next.isBusy) void load(cursor, items, 1);
    // The list may be different after the load under way, so all of it is loaded.
    else if (!isAsked) next.load(() => void load(null, [], counts.wanted));
  }, [load, next, counts, cursor, items]);
  const reload = useCallback(
    () => next.load(() => void load(null, [], counts.wanted)),
    [load, next, counts],
  );
  return { more, reload };
}

// Loads as many pages, from a cursor on or from the start.
async function pagesFrom<T>(
  client: Client,
  path: string,
  from: string | null,
  count: number,
  signal: AbortSignal,
) {
  const items: T[] = [];
  const mark = path.includes('?') ? '&' : '?';
  let cursor = from;
  for (let left = count; left > 0; left -= 1) {
    const after = cursor === null ? '' : `${mark}cursor=${encodeURIComponent(cursor)}`;
    const page: Page<T> = await client.request('GET', path + after, { signal, retry: true });
    items.push(...page.items);
    cursor = page.nextCursor ?? null;
    if (cursor === null) break;
    // A page may be empty although more follow.
    if (page.items.length === 0) left += 1;
  }
  return { items, cursor };
}

/** All pages of a list, loaded one after the other. Null asks nothing. */
export function useAll<T>(path: string | null) {
  const pages = usePages<T>(path);
  const { hasMore, isLoading, error, more } = pages;
  useEffect(() => {
    if (hasMore && !isLoading && !error) more();
  }, [hasMore, isLoading, error, more]);
  return { ...pages, isLoading: isLoading || (hasMore && !error) };
}
