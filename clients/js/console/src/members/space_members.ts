// The members of the open space, and the person in whose name the caller writes.

import type { Member, Space } from '@smartspace/client';
import { useMembers, useMe } from '@smartspace/react';
import { useMemo } from 'preact/hooks';
import { shownName } from '../ui/visible.ts';
import { useChosenSender } from './chosen_sender.ts';

const HUES = 6; // As many as style.css has.

/** The members of the open space, and the sender of the next message. */
export interface SpaceMembers {
  space: Space;
  people: readonly Member[];
  isOperator: boolean;
  /** The caller; null: the operator. */
  meId: string | null;
  /** The caller may only read and write. */
  isGuest: boolean;
  /** The person in whose name the operator writes; null: nobody yet, and for others. */
  senderId: string | null;
  /** The name of an entity, for texts. It is another function when a name has changed. */
  nameOf: (id: string) => string;
  /** The number of an entity's color: its place in the list of members. */
  hueOf: (id: string) => number;
}

/** The members of a space. It stays the same object until something in it changes. */
export function useSpaceMembers(space: Space): SpaceMembers {
  const { members } = useMembers();
  const { me } = useMe();
  // Read positions change often, and nothing here shows them.
  const shape = JSON.stringify(
    members.map(({ id, name, type, role, guest }) => [id, name, type, role, guest]),
  );
  const people = useMemo(() => members.filter(({ type }) => type === 'human'), [shape]);
  const isOperator = me?.kind === 'operator';
  const chosenId = useChosenSender(people);
  const senderId = isOperator ? chosenId : null;
  const nameOf = useMemo(() => {
    const guests = new Set(members.filter(({ guest }) => guest).map(({ id }) => id));
    return (id: string) => shownName({ name: space.nameOf(id), guest: guests.has(id) });
  }, [space, shape]);
  const hueOf = useMemo(() => {
    const places = new Map(members.map(({ id }, place) => [id, place]));
    return (id: string) => (places.get(id) ?? 0) % HUES;
  }, [shape]);
  const meId = me?.entity?.id ?? null;
  return useMemo(() => {
    const isGuest = people.some(({ id, guest }) => id === meId && guest);
    return { space, people, isOperator, isGuest, meId, senderId, nameOf, hueOf };
  }, [space, people, isOperator, meId, senderId, nameOf, hueOf]);
}
