// The revisions of an agent, and the function that restores one.

import type { Client, Entity, Revision } from '@smartspace/client';
import { useEffect, useMemo, useReducer, useState } from 'react';
import { useClientFor } from './context.ts';
import { NONE } from './store.ts';

/** The revisions of an agent, and the function that restores one. */
export interface AgentRevisions {
  /** The last 50, newest first. They stay while they are loaded again. */
  revisions: readonly Revision[];
  isLoading: boolean;
  error: Error | null;
  /** Loads the list again. */
  reload: () => void;
  /** Restores a revision, and loads the list again. Resolves to the agent. */
  restore: (revision: number) => Promise<Entity>;
}

interface Answer extends Pick<AgentRevisions, 'revisions' | 'error'> {
  agents: Client['agents'];
  agentId: string;
  /** The number of reloads before it was asked for. */
  reloads: number;
}

/**
 * Returns the revisions of an agent. For the operator. It changes when they are loaded: once, and
 * again after each `restore` and `reload`. Changes by others do not show by themselves.
 */
export function useRevisions(agentId: string): AgentRevisions {
  const { agents } = useClientFor('useRevisions');
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [reloads, reload] = useReducer((count: number) => count + 1, 0);
  const shown = answer?.agents === agents && answer.agentId === agentId ? answer : null;

  useEffect(() => {
    let isOver = false;
    const put = (revisions: readonly Revision[], error: Error | null) => {
      if (!isOver) setAnswer({ agents, agentId, reloads, revisions, error });
    };
    agents.revisions(agentId).then(
      (revisions) => put(revisions, null),
      (error) => put(shown?.revisions ?? NONE, error),
    );
    return () => {
      isOver = true;
    };
  }, [agents, agentId, reloads]);

  return useMemo(
    () => ({
      revisions: shown?.revisions ?? NONE,
      isLoading: shown?.reloads !== reloads,
      error: shown?.error ?? null,
      reload,
      async restore(revision) {
        const agent = await agents.restore(agentId, revision);
        reload();
        return agent;
      },
    }),
    [shown, reloads, agents, agentId],
  );
}
