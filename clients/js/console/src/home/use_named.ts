// The names of spaces and of their members. The list of spaces knows them.

import { useClient, useSpaces } from '@smartspace/react';
import { isolated } from '../ui/visible.ts';

export interface Named {
  space: (id: string) => string;
  agent: (spaceId: string, id: string) => string;
}

export function useNamed(): Named {
  const client = useClient();
  const { spaces } = useSpaces();
  return {
    space: (id) => isolated(spaces.find((each) => each.id === id)?.name ?? 'a space'),
    agent: (spaceId, id) => isolated(client.space(spaceId).nameOf(id)),
  };
}
