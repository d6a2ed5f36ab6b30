// A line between messages: what changed in the space, and who changed it.

import type { Sender } from '@smartspace/client';
import type { JSX } from 'preact';
import { timeText } from '../ui/times.ts';
import { isolated } from '../ui/visible.ts';

/** The change. `by` is null for the operator. */
export interface ShownLine {
  at: string;
  by: Sender | null;
  kind: string;
  member?: Sender | null;
  from?: string | null;
  to?: string | null;
  seq?: number | null;
}

export const SystemLineView = ({ line }: { line: ShownLine }): JSX.Element => (
  <p class="system-line note" dir="auto">
    {lineText(line)} · <time dateTime={line.at}>{timeText(Date.parse(line.at))}</time>
  </p>
);

const POLICIES: Record<string, string> = {
  all: 'everyone',
  mention: 'named agents',
  partner: 'the agent one talks with',
  router: 'whom the router chooses',
  admin: 'the admin agent',
};

/** `Omar paused the space`. A newer server may have further kinds. */
export function lineText({ by, kind, member, from, to, seq }: ShownLine): string {
  const who = by ? isolated(by.name) : 'The operator';
  const whom = member ? isolated(member.name) : 'Somebody';
  const isOwn = !by || !member || by.id === member.id;
  switch (kind) {
    case 'joined':
      return isOwn && by ? `${whom} joined` : `${who} added ${whom}`;
    case 'left':
      return isOwn && by ? `${whom} left` : `${who} removed ${whom}`;
    case 'renamed':
      return `${who} renamed the space from ${isolated(from ?? '')} to ${isolated(to ?? '')}`;
    case 'paused':
      return `${who} paused the space: nobody is asked`;
    case 'resumed':
      return `${who} resumed the space`;
    case 'policyChanged':
      return `${who} changed who is asked: ${POLICIES[to ?? ''] ?? to}`;
    case 'chainStopped':
      return `${who} stopped the chain of message ${seq}`;
    case 'stopped':
      return `${who} stopped all agents and paused the space`;
    default:
      return `${who} changed the space`;
  }
}
