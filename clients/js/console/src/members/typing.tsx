// The line that names people who type.

import { usePresence } from '@smartspace/react';
import type { JSX } from 'preact';
import type { SpaceMembers } from './space_members.ts';

const MOST_NAMES = 3;

/** The line. It leaves out the caller. */
export function Typing({ members: { meId, nameOf } }: { members: SpaceMembers }): JSX.Element {
  const { typing } = usePresence();
  const names = typing.filter((id) => id !== meId).map(nameOf);
  return (
    <p id="typing" class="typing" aria-live="off">
      {typingText(names)}
    </p>
  );
}

function typingText(names: string[]) {
  if (names.length === 0) return '';
  if (names.length > MOST_NAMES) return `${names.length} people are typing…`;
  const last = names.at(-1);
  return names.length === 1
    ? `${last} is typing…`
    : `${names.slice(0, -1).join(', ')} and ${last} are typing…`;
}
