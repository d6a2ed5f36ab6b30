// The members of the open space, and the person in whose name the caller writes.

import type { Member, Space } from '@smartspace/client';
import { useMembers, useMe } from '@smartspace/react';
import { useMemo, useRef, useState } from 'preact/hooks';
import { preference, setPreference } from '../ui/preferences.ts';
import { shownName } from '../ui/visible.ts';

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
  /** The person in whose name the operator writes and answers; null for others. */
  senderId: string | null;
  choose: (id: string) => void;
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
  const [senderId, choose] = useSender(space.id, people, isOperator);
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
    return { space, people, isOperator, isGuest, meId, senderId, choose, nameOf, hueOf };
  }, [space, people, isOperator, meId, senderId, nameOf, hueOf]);
}

/**
 * The selected person, or null if the space has no people. It stays the same until another person
 * is selected or this one leaves. The choice survives a reload.
 */
function useSender(spaceId: string, people: readonly Member[], isOperator: boolean) {
  const name = `sender.${spaceId}`;
  const [chosenId, setChosenId] = useState(() => preference(name));
  const shown = useRef<string | null>(null);
  const wanted = chosenId ?? shown.current;
  const id = (people.find((each) => each.id === wanted) ?? people[0])?.id ?? null;
  if (id !== null) shown.current = id;
  const choose = (next: string) => {
    setChosenId(next);
    setPreference(name, next);
  };
  return [isOperator ? id : null, choose] as const;
}
