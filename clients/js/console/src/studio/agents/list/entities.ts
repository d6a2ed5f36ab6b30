// All agents, and the runs that the list of agents shows, as state of a component.

import type { Entity, Run } from '@smartspace/client';
import { useActivity } from '../../data/activity.ts';
import { useAnswer } from '../../data/answer.ts';
import { useAll } from '../../data/pages.ts';

/** All agents, oldest first. The API has no filter for them. */
export function useAgents() {
  const { items, error, isLoading, reload } = useAll<Entity>('/v1/entities?limit=200');
  return { agents: items.filter(({ type }) => type === 'agent'), error, isLoading, reload };
}

/** The newest run with this status of each agent, by the agent's id. Null until they are loaded. */
export function useNewestRuns(status: Run['status']) {
  const { answer, error, reload } = useAnswer<{ items: Run[] }>(
    `/v1/runs?status=${status}&limit=200`,
  );
  useActivity(reload);
  return { runs: answer && newestRuns(answer.items), error };
}

/** The first run of each agent, by the agent's id. */
export function newestRuns(runs: readonly Run[]): Map<string, Run> {
  const newest = new Map<string, Run>();
  for (const run of runs) if (!newest.has(run.agentId)) newest.set(run.agentId, run);
  return newest;
}
