// The spaces that an agent is a member of, as links.

import type { SpaceInfo } from '@smartspace/client';
import type { JSX } from 'preact';
import { hashOf } from '../../../navigation/address.ts';
import { useAnswer } from '../../data/answer.ts';

const MOST = 3;

/** A line for the head of the agent's page. Of many spaces it looks at the oldest 200. */
export function AgentSpaces({ agentId }: { agentId: string }): JSX.Element | null {
  const { answer } = useAnswer<{ items: SpaceInfo[] }>('/v1/spaces?limit=200');
  if (!answer) return null;
  const own = answer.items.filter(({ members }) => members.some(({ id }) => id === agentId));
  if (own.length === 0) return <p class="note">in no space yet: add it in the settings of one</p>;
  return (
    <p class="note">
      in{' '}
      {own.slice(0, MOST).map(({ id, name }, index) => (
        <>
          {index > 0 ? ', ' : ''}
          <a key={id} href={hashOf(id)} dir="auto">
            {name}
          </a>
        </>
      ))}
      {own.length > MOST ? ` and ${own.length - MOST} more` : ''}
    </p>
  );
}
