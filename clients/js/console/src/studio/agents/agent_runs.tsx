import type { JSX } from 'preact';

export function AgentRuns({ agentId }: { agentId: string }): JSX.Element | null {
  return null;
}
