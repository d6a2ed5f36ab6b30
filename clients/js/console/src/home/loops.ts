// Agents that answer each other without an end. Pure.

import type { Run } from '@smartspace/client';

// So many runs of one chain in a minute are no talk.
const FEWEST_RUNS = 10;
// The next run of a chain begins sooner than this.
const QUIET_MS = 5_000;
// While a chain is being stopped, a last run may begin and end by itself.
const STOPPING_MS = 2_000;

/** A chain with many runs. */
export interface Loop {
  /** The id of the chain. */
  chainId: string;
  spaceId: string;
  /** The agents, the one with the most runs first. */
  agentIds: readonly string[];
  runs: number;
  depth: number;
  /** When the newest run was made, in milliseconds since 1970. */
  newestAt: number;
}

type ListedRun = Pick<
  Run,
  'agentId' | 'chainDepth' | 'activeSpaceId' | 'status' | 'createdAt' | 'finishedAt'
> & {
  chainId?: string | null;
};

/** The loops among the runs of the minute before `now` that go on, the longest first. */
export function loopsIn(runs: readonly ListedRun[], now: number): Loop[] {
  const chains = new Map<string, ListedRun[]>();
  for (const run of runs) {
    // People set off the others.
    if (!run.activeSpaceId || run.chainDepth === 0) continue;
    const key = run.chainId ?? run.activeSpaceId;
    chains.set(key, [...(chains.get(key) ?? []), run]);
  }
  return [...chains]
    .filter(([, { length }]) => length >= FEWEST_RUNS)
    .filter(([, each]) => goesOn(each, now))
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([chainId, each]) => loopOf(chainId, each));
}

// A chain that is stopped has canceled runs, and no other run follows.
function goesOn(runs: readonly ListedRun[], now: number): boolean {
  const ends = runs.map(({ finishedAt }) => (finishedAt ? Date.parse(finishedAt) : Infinity));
  const lastEnd = Math.max(...ends);
  if (lastEnd === Infinity) return true;
  const begunAt = newestOf(runs);
  const isStopped = runs.some(
    ({ status }, index) => status === 'canceled' && (ends[index] ?? 0) >= begunAt - STOPPING_MS,
  );
  return !isStopped && now - lastEnd <= QUIET_MS;
}

const newestOf = (runs: readonly ListedRun[]) =>
  Math.max(...runs.map(({ createdAt }) => Date.parse(createdAt)));

function loopOf(chainId: string, runs: readonly ListedRun[]): Loop {
  const counts = new Map<string, number>();
  for (const { agentId } of runs) counts.set(agentId, (counts.get(agentId) ?? 0) + 1);
  const byCount = [...counts].sort(([, one], [, other]) => other - one);
  return {
    chainId,
    spaceId: runs[0]?.activeSpaceId ?? '',
    agentIds: byCount.map(([id]) => id),
    runs: runs.length,
    depth: Math.max(...runs.map(({ chainDepth }) => chainDepth)),
    newestAt: newestOf(runs),
  };
}
