// All people, as state of a component.

import type { Entity } from '@smartspace/client';
import { useAll } from './pages.ts';

/** All people with an account, oldest first. A guest may only be in its own space. */
export function usePeople() {
  const { items, isLoading, error } = useAll<Entity>('/v1/entities?limit=200');
  const people = items.filter(({ type, guestOf }) => type === 'human' && !guestOf);
  return { people, isLoading, error };
}
