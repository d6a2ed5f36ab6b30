// The loops of the last minute, kept up to date.

import type { Run } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import { useRef, useState } from 'preact/hooks';
import { loopsIn, type Loop } from './loops.ts';
import { usePolling } from './use_polling.ts';

const MINUTE_MS = 60_000;
const RELOAD_MS = 30_000;
// Between two loads that follow events while there is no loop: a page of runs is long.
const CALM_MS = 5_000;
// The end of a loop shows soon.
const ALARM_MS = 1_000;

/** `isPaused`: nothing goes on in this space. */
export function useLoops(isPaused: (spaceId: string) => boolean): readonly Loop[] {
  const client = useClient();
  const [loops, setLoops] = useState<readonly Loop[]>([]);
  const loadedAt = useRef(-Infinity);
  const hasLoops = loops.length > 0;
  const load = () => {
    const now = Date.now();
    loadedAt.current = now;
    const since = encodeURIComponent(new Date(now - MINUTE_MS).toISOString());
    client
      .request<{ items: Run[] }>('GET', `/v1/runs?minChainDepth=1&since=${since}&limit=200`, {
        retry: true,
      })
      // The connection says that there is no network.
      .then(
        ({ items }) => setLoops(loopsIn(items, now)),
        () => {},
      );
  };
  usePolling(load, hasLoops ? ALARM_MS : RELOAD_MS, () => {
    if (hasLoops || Date.now() - loadedAt.current >= CALM_MS) load();
  });
  // What began before the pause stays stopped after it.
  const pausedAt = useRef(new Map<string, number>()).current;
  for (const { spaceId } of loops) if (isPaused(spaceId)) pausedAt.set(spaceId, Date.now());
  return loops.filter(({ spaceId, newestAt }) => newestAt > (pausedAt.get(spaceId) ?? 0));
}
