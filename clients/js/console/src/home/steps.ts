// The first steps of an operator, and which of them are done. Pure.

import type { Entity, SpaceSummary } from '@smartspace/client';
import { hashOf, LIST, settingsHash } from '../navigation/address.ts';

// The demo makes its agents within seconds.
const OWN_AFTER_MS = 60_000;

/** A step. `href` leads to where it is done. */
export interface Step {
  name: 'hello' | 'why' | 'agent' | 'invite';
  text: string;
  href: string;
  isDone: boolean;
}

/** The space in which the steps are done: the open one, or else the newest. */
export const spaceOf = <Space extends Pick<SpaceSummary, 'id'>>(
  spaces: readonly Space[],
  openId: string | null,
): Space | undefined => spaces.find(({ id }) => id === openId) ?? spaces[0];

/** `entities` are the oldest ones, oldest first. */
export function stepsOf(
  spaces: readonly Pick<SpaceSummary, 'id' | 'lastMessage'>[],
  entities: readonly Pick<Entity, 'type' | 'createdAt'>[],
  hasSeenWhy: boolean,
  openId: string | null,
): readonly Step[] {
  const space = spaceOf(spaces, openId);
  const talk = space ? hashOf(space.id) : LIST;
  const isOwn = ({ type, createdAt }: Pick<Entity, 'type' | 'createdAt'>) =>
    type === 'agent' &&
    Date.parse(createdAt) - Date.parse(entities[0]?.createdAt ?? '') > OWN_AFTER_MS;
  return [
    {
      name: 'hello',
      text: 'Say hello',
      href: talk,
      isDone: spaces.some(({ lastMessage }) => lastMessage !== null),
    },
    { name: 'why', text: 'See why an agent spoke or not', href: talk, isDone: hasSeenWhy },
    {
      name: 'agent',
      text: 'Make your own agent',
      href: '#/agents/new',
      isDone: entities.some(isOwn),
    },
    {
      name: 'invite',
      text: 'Invite somebody',
      href: space ? settingsHash(space.id) : '#/people',
      isDone: entities.filter(({ type }) => type === 'human').length > 1,
    },
  ];
}
