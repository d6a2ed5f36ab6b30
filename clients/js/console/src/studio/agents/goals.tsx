import type { JSX } from 'preact';

export function Goals({ agentId }: { agentId: string }): JSX.Element | null {
  return null;
}
