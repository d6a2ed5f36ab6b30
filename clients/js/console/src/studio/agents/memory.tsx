import type { JSX } from 'preact';

export function Memory({ agentId }: { agentId: string }): JSX.Element | null {
  return null;
}
