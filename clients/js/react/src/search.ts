// A search while a person types it.

import type { SearchItem, SearchProgress, SearchQuery } from '@smartspace/client';
import { useEffect, useMemo, useState } from 'react';
import { useClientFor } from './context.ts';
import { NONE } from './store.ts';

const DELAY_MS = 250;

/** What a search has found, and the function that finds more of it. */
export interface FoundMessages extends SearchProgress {
  /** The best one first. While `searched` is null they are those of an earlier query. */
  items: readonly SearchItem[];
  /** It also goes on by itself with older messages until it has `limit` items. */
  isLoading: boolean;
  error: Error | null;
  /** Finds `limit` items more, or tries again after an error. */
  more(): void;
}

interface Found extends FoundMessages {
  /** The query. */
  asked?: string;
}

const NOTHING: Found = {
  items: NONE,
  ignored: NONE,
  searched: null,
  incomplete: false,
  hasMore: false,
  isLoading: false,
  error: null,
  more() {},
};

/**
 * Returns the messages that a query finds. It asks when the query has not changed for 0.25 s, and
 * cancels the call when the query changes again. It changes with the query and with each item. A
 * query that is null is not asked.
 */
export function useSearch(query: SearchQuery | null): FoundMessages {
  const client = useClientFor('useSearch');
  const [found, setFound] = useState(NOTHING);
  const asked = JSON.stringify(query);

  useEffect(() => {
    if (!query) return setFound(NOTHING);
    const cancellation = new AbortController();
    const { signal } = cancellation;
    const search = client.search({ ...query, signal });
    const items: SearchItem[] = [];
    const show = (isLoading: boolean, error: Error | null = null) => {
      if (signal.aborted) return;
      const { searched, incomplete, hasMore, ignored = NONE } = search;
      const progress = { searched, incomplete, hasMore, ignored };
      setFound({ ...progress, asked, items: [...items], isLoading, error, more });
    };
    const more = () => {
      show(true);
      void read();
    };
    const read = async () => {
      const wanted = items.length + (query.limit ?? 10);
      try {
        while (items.length < wanted || !search.hasMore) {
          // The items of an earlier query stay until there is an answer.
          if (search.searched) show(true);
          const { value } = await search.next();
          if (!value) break;
          items.push(value);
        }
        show(false);
      } catch (error) {
        show(false, error as Error);
      }
    };
    const timer = setTimeout(read, DELAY_MS);
    return () => {
      clearTimeout(timer);
      cancellation.abort();
    };
  }, [client, asked]);

  return useMemo(
    () =>
      !query
        ? NOTHING
        : found.asked === asked
          ? found
          : { ...found, searched: null, isLoading: true, error: null },
    [found, asked],
  );
}
