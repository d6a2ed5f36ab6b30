// The JSON merge patch (RFC 7386) between two documents. Pure.

import { isEqual, isObject } from '../../forms/schema/json.ts';

export type JsonObject = Record<string, unknown>;

/** The patch that turns `from` into `to`. A member that `to` does not have becomes null. */
export function mergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const [name, value] of Object.entries(to)) {
    const before = from[name];
    if (isObject(value) && isObject(before)) {
      const inner = mergePatch(before, value);
      if (Object.keys(inner).length > 0) patch[name] = inner;
    } else if (!isEqual(before, value)) patch[name] = value;
  }
  for (const [name, value] of Object.entries(from))
    if (!(name in to) && value !== null) patch[name] = null;
  return patch;
}
