// Conflicts between the changes of two people. Pure.

import type { Fault } from '../../forms/schema/field_types.ts';
import { isEqual, isObject } from '../../forms/schema/json.ts';
import { escaped } from '../../forms/schema/schema.ts';
import { shortened } from '../../ui/visible.ts';
import type { JsonObject } from './merge_patch.ts';

const LONGEST_CHARS = 120;

/**
 * A fault for each value that `patch` changes although another person has changed it to something
 * else since the form was `loaded`.
 */
export function conflictsOf(
  patch: JsonObject,
  loaded: JsonObject,
  current: JsonObject,
  root = '',
): Fault[] {
  return Object.entries(patch).flatMap(([name, value]) => {
    const pointer = `${root}/${escaped(name)}`;
    const [before, now] = [loaded[name], current[name]];
    if (isObject(value) && isObject(before) && isObject(now))
      return conflictsOf(value, before, now, pointer);
    // A null in a patch removes a member, and a document leaves it out.
    if (isEqual(before ?? null, now ?? null) || isEqual(value, now ?? null)) return [];
    return [{ pointer, detail: `Somebody else has changed it ${wordsFor(now)}.` }];
  });
}

function wordsFor(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'to nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `to “${shortened(text, LONGEST_CHARS)}”`;
}
