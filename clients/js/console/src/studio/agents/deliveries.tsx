import type { JSX } from 'preact';

export function Deliveries({ agentId }: { agentId: string }): JSX.Element | null {
  return null;
}
