// The reactions below a message, each a button that adds or removes the reader's own.

import type { Message } from '@smartspace/client';
import type { JSX } from 'preact';
import type { SpaceMembers } from '../members/space_members.ts';
import { actorOf } from './rights.ts';
import { useMessageCalls } from './use_message_calls.ts';

export interface ReactionsProps {
  message: Message;
  members: SpaceMembers;
}

export function Reactions({ message, members }: ReactionsProps): JSX.Element | null {
  const { react } = useMessageCalls(members);
  const actorId = actorOf(members);
  const { reactions = [] } = message;
  if (reactions.length === 0) return null;
  return (
    <ul class="reactions" aria-label="Reactions">
      {reactions.map(({ emoji, count, entityIds }) => {
        const isOwn = actorId !== null && entityIds.includes(actorId);
        const names = entityIds.map(members.nameOf).join(', ');
        const more = count > entityIds.length ? ` and ${count - entityIds.length} more` : '';
        return (
          <li key={emoji}>
            <button
              type="button"
              class="reaction"
              aria-pressed={isOwn}
              aria-label={`${emoji} ${count}: ${names}${more}`}
              title={names + more}
              disabled={actorId === null}
              onClick={() => react(message, emoji, !isOwn)}
            >
              {emoji} {count}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
