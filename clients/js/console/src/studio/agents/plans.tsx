import type { JSX } from 'preact';

export function Plans({ agentId }: { agentId: string }): JSX.Element | null {
  return null;
}
