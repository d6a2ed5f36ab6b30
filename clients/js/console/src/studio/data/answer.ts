// The answer of one call of the HTTP API, as state of a component.

import { useClient } from '@smartspace/react';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { NextLoad } from './next_load.ts';

export interface Answer<T> {
  /** Null until it is loaded. It stays during a reload. */
  answer: T | null;
  error: Error | null;
  isLoading: boolean;
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
