// The person in whose name the operator decides: nobody until one is chosen.

import type { Member } from '@smartspace/client';
import { useClient, useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { shownName } from '../ui/visible.ts';
import { chooseSender, useChosenSender } from './chosen_sender.ts';

export function SenderChoice({ spaceId, id }: { spaceId: string; id: string }): JSX.Element {
  const people = useDeciders(spaceId);
  const senderId = useChosenSender(people);
  return (
    <label class="note">
      as{' '}
      <select
        id={id}
        value={senderId ?? ''}
        onChange={({ currentTarget }) => chooseSender(currentTarget.value)}
      >
        <option value="">Choose a person</option>
        {people.map((person) => (
          <option key={person.id} value={person.id}>
            {shownName(person)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The person who is chosen, if it may decide in this space. */
export function useChosenDecider(spaceId: string): Member | undefined {
  const people = useDeciders(spaceId);
  const senderId = useChosenSender(people);
  return people.find(({ id }) => id === senderId);
}

// The people of a space who may decide, as far as the list of spaces knows them.
function useDeciders(spaceId: string) {
  useSpaces();
  return decidersOf(useClient().space(spaceId).members.getSnapshot().members);
}

/** The members who may decide. */
export const decidersOf = (members: readonly Member[]): readonly Member[] =>
  members.filter(({ type, guest }) => type === 'human' && !guest);
