// The person in whose name the operator decides: nobody until one is chosen.

import type { Member } from '@smartspace/client';
import { useClient, useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { useChosenSender } from './chosen_sender.ts';
import { SenderSelect } from './sender_select.tsx';

export function SenderChoice({ spaceId, id }: { spaceId: string; id: string }): JSX.Element {
  return (
    <label class="note">
      as <SenderSelect id={id} people={useDeciders(spaceId)} />
    </label>
  );
}

/** The person who is chosen, if it may decide in this space. */
export function useChosenDecider(spaceId: string): Member | undefined {
  const people = useDeciders(spaceId);
  const senderId = useChosenSender(people);
  return people.find(({ id }) => id === senderId);
}

/** The person who is chosen, if it is in this space. */
export function useChosenPerson(spaceId: string): Member | undefined {
  const people = useListed(spaceId).filter(({ type }) => type === 'human');
  const senderId = useChosenSender(people);
  return people.find(({ id }) => id === senderId);
}

// The people of a space who may decide.
const useDeciders = (spaceId: string) => decidersOf(useListed(spaceId));

// The members of a space, as far as the list of spaces knows them.
function useListed(spaceId: string) {
  useSpaces();
  return useClient().space(spaceId).members.getSnapshot().members;
}

/** The members who may decide. */
export const decidersOf = (members: readonly Member[]): readonly Member[] =>
  members.filter(({ type, guest }) => type === 'human' && !guest);
