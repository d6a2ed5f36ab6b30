// What the filters of a search may name.

import { useClient, useMe, useSpaces } from '@smartspace/react';
import type { Choice, OpenFilter } from './query.ts';

const ME: Choice = { id: 'me', name: 'me' };

/** The spaces, and the members of those that are loaded: the caller and people first. */
export function useChoices(): Record<OpenFilter['name'], readonly Choice[]> {
  const client = useClient();
  const { me } = useMe();
  const { spaces } = useSpaces();
  const from = new Map<string, Choice>(me?.entity ? [[ME.id, ME]] : []);
  for (const space of spaces)
    for (const { id, name, type } of client.space(space.id).members.getSnapshot().members)
      from.set(id, { id, name, rank: type === 'human' ? 1 : 2 });
  return { in: spaces, from: [...from.values()] };
}
