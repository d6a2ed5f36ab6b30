// Copies of maps and sets, which a state never changes in place.

import { MOST_REMEMBERED } from '../limits.ts';

/** A map without one of its keys. */
export function without<Key, T>(map: ReadonlyMap<Key, T>, key: Key): ReadonlyMap<Key, T> {
  const others = new Map(map);
  others.delete(key);
  return others;
}

/** A set with further members. Of very many, those that were added first are forgotten. */
export const remembering = (set: ReadonlySet<string>, more: readonly string[]) =>
  new Set([...set, ...more].slice(-MOST_REMEMBERED));
