// The host that a tool of an agent calls, for those who may read the agent's configuration.

import type { Entity } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import { useEffect, useState } from 'preact/hooks';
import { entityPath } from '../../api/paths.ts';

/** The host; null until it is known, for a tool that calls none, and without an agent. */
export function useToolHost(agentId: string | null, tool: string): string | null {
  const client = useClient();
  const [host, setHost] = useState<string | null>(null);
  useEffect(() => {
    if (agentId === null) return;
    const stop = new AbortController();
    client
      .request<Entity>('GET', entityPath(agentId), { signal: stop.signal, retry: true })
      .then((agent) => setHost(hostIn(agent.agent, tool)))
      // The card is as good without it.
      .catch(() => {});
    return () => stop.abort();
  }, [client, agentId, tool]);
  return host;
}

/** The host that a tool of this configuration calls. Null for a tool that is built in. */
export function hostIn(config: Entity['agent'], tool: string): string | null {
  const own = config?.tools?.find(({ name }) => name === tool);
  if (own) return own.execution.type === 'http' ? hostOf(own.execution.url) : null;
  const server = config?.mcp?.servers?.find(({ name }) => tool.startsWith(name + '__'));
  return server ? hostOf(server.url) : null;
}

// An address may have parts that a call fills in.
const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null);
