// The first steps of an operator, and which of them are done. Pure.

import type { Entity, SpaceSummary } from '@smartspace/client';
import { hashOf, LIST, settingsHash } from '../navigation/address.ts';

// The demo makes its agents within seconds.
const OWN_AFTER_MS = 60_000;

/** A step. `href` leads to where it is done. */
export interface Step {
  text: string;
  href: string;
  isDone: boolean;
}

/** `entities` are the oldest ones, oldest first. */
export function stepsOf(
  spaces: readonly Pick<SpaceSummary, 'id' | 'lastMessage'>[],
  entities: readonly Pick<Entity, 'type' | 'createdAt'>[],
  hasSeenWhy: boolean,
): readonly Step[] {
  const [space] = spaces;
  const talk = space ? hashOf(space.id) : LIST;
  const isOwn = ({ type, createdAt }: Pick<Entity, 'type' | 'createdAt'>) =>
    type === 'agent' &&
    Date.parse(createdAt) - Date.parse(entities[0]?.createdAt ?? '') > OWN_AFTER_MS;
  return [
    {
      text: 'Say hello',
      href: talk,
      isDone: spaces.some(({ lastMessage }) => lastMessage !== null),
    },
    { text: 'See why an agent spoke or not', href: talk, isDone: hasSeenWhy },
    { text: 'Make your own agent', href: '#/agents/new', isDone: entities.some(isOwn) },
    {
      text: 'Invite somebody',
      href: space ? settingsHash(space.id) : '#/people',
      isDone: entities.filter(({ type }) => type === 'human').length > 1,
    },
  ];
}
