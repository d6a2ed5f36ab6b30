// The two letters that stand for an entity: round for people, square for agents.

import type { JSX } from 'preact';

export interface AvatarProps {
  name: string;
  isAgent: boolean;
}

/** A picture of an entity. Its name is beside it, so screen readers skip it. */
export const Avatar = ({ name, isAgent }: AvatarProps): JSX.Element => (
  <span class={isAgent ? 'avatar agent' : 'avatar'} aria-hidden="true">
    {lettersOf(name)}
  </span>
);

const lettersOf = (name: string) => [...name.replace(/[^\p{L}\p{N}]/gu, '')].slice(0, 2).join('');
