// Agents that answer each other without an end. Pure.

import type { Run } from '@smartspace/client';

// So many runs of one chain in a minute are no talk.
const FEWEST_RUNS = 10;

/** A chain with many runs. */
export interface Loop {
  spaceId: string;
  /** The agents, the one with the most runs first. */
  agentIds: readonly string[];
  runs: number;
  depth: number;
}

type ListedRun = Pick<Run, 'agentId' | 'chainDepth' | 'activeSpaceId'> & {
  chainId?: string | null;
};

/** The loops among the runs of a minute, the longest first. */
export function loopsIn(runs: readonly ListedRun[]): Loop[] {
  const chains = new Map<string, ListedRun[]>();
  for (const run of runs) {
    // People set off the others.
    if (!run.activeSpaceId || run.chainDepth === 0) continue;
    const key = run.chainId ?? run.activeSpaceId;
    chains.set(key, [...(chains.get(key) ?? []), run]);
  }
  return [...chains.values()]
    .filter(({ length }) => length >= FEWEST_RUNS)
    .sort((one, other) => other.length - one.length)
    .map(loopOf);
}

function loopOf(runs: readonly ListedRun[]): Loop {
  const counts = new Map<string, number>();
  for (const { agentId } of runs) counts.set(agentId, (counts.get(agentId) ?? 0) + 1);
  const byCount = [...counts].sort(([, one], [, other]) => other - one);
  return {
    spaceId: runs[0]?.activeSpaceId ?? '',
    agentIds: byCount.map(([id]) => id),
    runs: runs.length,
    depth: Math.max(...runs.map(({ chainDepth }) => chainDepth)),
  };
}
