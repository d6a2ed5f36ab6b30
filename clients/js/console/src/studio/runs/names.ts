// The names of agents and spaces.

import type { Entity } from '@smartspace/client';
import { useSpaces } from '@smartspace/react';
import { useAll } from '../data/pages.ts';
import { shortId } from './words.ts';

/** Something with a name. */
export interface Named {
  id: string;
  name: string;
}

/** The agents and the spaces, and the name of an agent by its id. */
export interface Names {
  agents: readonly Named[];
  spaces: readonly Named[];
  /** A retired agent has no name here, so its id is shown without its middle. */
  agentName: (id: string) => string;
  /** Why the names of agents could not be loaded. */
  error: Error | null;
}

/** The names of all agents and spaces. */
export function useNames(): Names {
  const { items, error } = useAll<Entity>('/v1/entities?limit=200');
  const { spaces } = useSpaces();
  const agents = items.filter(({ type }) => type === 'agent').sort(byName);
  const names = new Map(items.map(({ id, name }) => [id, name]));
  return {
    agents,
    spaces: [...spaces].sort(byName),
    agentName: (id) => names.get(id) ?? shortId(id),
    error,
  };
}

const byName = (one: Named, other: Named) => one.name.localeCompare(other.name);
