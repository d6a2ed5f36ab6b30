// What a page asks the HTTP API for, as state of a component.

import { useClient } from '@smartspace/react';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

const RELOAD_MS = 1000; // Between two calls that follow what happens.

/**
 * Puts off a load until the one under way has ended. Each would otherwise break off the one before,
 * and a slow list that changes all the time would never come.
 */
class NextLoad {
  private isBusy = false;
  private waiting: (() => void) | null = null;

  /** Calls `load` now, or when the load under way has ended. */
  load(load: () => void): void {
    if (this.isBusy) this.waiting = load;
    else load();
  }

  begin(): void {
    this.isBusy = true;
  }

  end(): void {
    const { waiting } = this;
    this.forget();
    waiting?.();
  }

  /** Drops the load that waits. */
  forget(): void {
    this.isBusy = false;
    this.waiting = null;
  }
}

/** The answer of one call. */
export interface Answer<T> {
  /** Null until it has come. It stays while it is asked for again. */
  answer: T | null;
  error: Error | null;
  isLoading: boolean;
  /** Asks again. */
  reload: () => void;
}

/** The answer to `GET path`, asked for when the path changes. Null asks nothing. */
export function useAnswer<T>(path: string | null): Answer<T> {
  const client = useClient();
  const [state, setState] = useState<{
    path: string | null;
    answer: T | null;
    error: Error | null;
  }>({ path, answer: null, error: null });
  const [count, setCount] = useState(0);
  const [isLoading, setIsLoading] = useState(path !== null);
  const next = useRef(new NextLoad()).current;
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    const { signal } = stop;
    next.begin();
    const put = (answer: T | null, error: Error | null) => {
      if (signal.aborted) return;
      next.end();
      setState((before) => ({
        path,
        answer: answer ?? (before.path === path ? before.answer : null),
        error,
      }));
      setIsLoading(false);
    };
    setIsLoading(true);
    client.request<T>('GET', path, { signal, retry: true }).then(
      (answer) => put(answer, null),
      (error) => put(null, error),
    );
    return () => {
      stop.abort();
      next.forget();
    };
  }, [client, path, count, next]);
  const reload = useCallback(() => next.load(() => setCount((before) => before + 1)), [next]);
  const isCurrent = state.path === path;
  return {
    answer: isCurrent ? state.answer : null,
    error: isCurrent ? state.error : null,
    isLoading,
    reload,
  };
}

interface Page<T> {
  items: T[];
  nextCursor?: string | null;
}

/** A list that comes in pages. */
export interface Pages<T> {
  items: readonly T[];
  hasMore: boolean;
  error: Error | null;
  isLoading: boolean;
  /** Loads the next page. */
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
  const pages = useRef(1);
  const next = useRef(new NextLoad()).current;

  const load = useCallback(
    async (from: string | null, before: readonly T[], count: number) => {
      if (path === null) return;
      work.current?.abort();
      const stop = new AbortController();
      work.current = stop;
      next.begin();
      setIsLoading(true);
      setError(null);
      try {
        let items = before;
        let start: string | null = from;
        for (let left = count; left > 0; left -= 1) {
          const mark = path.includes('?') ? '&' : '?';
          const after = start === null ? '' : `${mark}cursor=${encodeURIComponent(start)}`;
          const page: Page<T> = await client.request('GET', path + after, {
            signal: stop.signal,
            retry: true,
          });
          items = [...items, ...page.items];
          start = page.nextCursor ?? null;
          // A page may be empty although more follow.
          if (page.items.length === 0 && start !== null) left += 1;
          if (start === null) break;
        }
        if (stop.signal.aborted) return;
        setState({ path, items });
        setCursor(start);
      } catch (problem) {
        if (stop.signal.aborted) return;
        setError(problem as Error);
      }
      setIsLoading(false);
      next.end();
    },
    [client, path, next],
  );
  useEffect(() => {
    pages.current = 1;
    void load(null, [], 1);
    return () => {
      work.current?.abort();
      next.forget();
    };
  }, [load, next]);
  const isCurrent = state.path === path;
  const items = isCurrent ? state.items : [];
  const more = useCallback(() => {
    pages.current += 1;
    void load(cursor, items, 1);
  }, [load, cursor, items]);
  const reload = useCallback(
    () => next.load(() => void load(null, [], pages.current)),
    [load, next],
  );
  return { items, hasMore: isCurrent && cursor !== null, error, isLoading, more, reload };
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

/** What a list has, for a form that must not overwrite any of it. */
export interface Known {
  taken: readonly string[];
  error: Error | null;
}

/** Returns what a list has as soon as it is loaded. */
export function useKnown(known: Known, isLoading: boolean): () => Promise<Known> {
  const latest = useRef({ known, isLoading });
  latest.current = { known, isLoading };
  const waiting = useRef<(() => void)[]>([]);
  useEffect(() => {
    if (!isLoading) waiting.current.splice(0).forEach((go) => go());
  }, [isLoading]);
  return useCallback(async () => {
    while (latest.current.isLoading) await new Promise<void>((go) => waiting.current.push(go));
    return latest.current.known;
  }, []);
}

/** Calls `reload` when something happens in any space, at most once a second. */
export function useActivity(reload: () => void): void {
  const client = useClient();
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const changed = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        latest.current();
      }, RELOAD_MS);
    };
    const leave = client.spaces.subscribe(changed);
    return () => {
      clearTimeout(timer);
      leave();
    };
  }, [client]);
}
