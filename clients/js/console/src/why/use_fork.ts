// The progress of a fork.

import type { Run } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import { useEffect, useState } from 'preact/hooks';
import { runPath } from '../api/paths.ts';
import { wordsOf } from '../ui/notices.tsx';

// The server sends no events about forks.
const POLL_MS = 500;

/** The fork, asked for again until it has ended. Other runs stay as they are. */
export function useFork(first: Run): { fork: Run; error: string | null } {
  const client = useClient();
  const [fork, setFork] = useState(first);
  const [error, setError] = useState<string | null>(null);
  const isOpen = !!first.forkOf && first.finishedAt === null;
  useEffect(() => {
    if (!isOpen) return;
    const stop = new AbortController();
    const { signal } = stop;
    const ask = async () => {
      try {
        const path = runPath(first.id);
        const found = await client.request<Run>('GET', path, { signal, retry: true });
        if (signal.aborted) return;
        setFork(found);
        if (found.finishedAt === null) setTimeout(ask, POLL_MS);
      } catch (problem) {
        if (!signal.aborted) setError(wordsOf(problem));
      }
    };
    void ask();
    return () => stop.abort();
  }, [client, first.id, isOpen]);
  return { fork: isOpen ? fork : first, error };
}
