// What a space says about itself: its settings, its members, and how far each has read. Pure.

import type { Caller, Member, SpaceInfo } from './types.ts';

export interface Info {
  /** Null until it is loaded. */
  readonly space: SpaceInfo | null;
  /** Takes over the settings and members. */
  put(found: SpaceInfo): void;
  putMembers(members: readonly Member[]): void;
  /** The members without one of them. */
  others(entityId: string): Member[];
  /** A member has read up to this seq. Returns whether that is news. */
  putRead(entityId: string | undefined, seq: number): boolean;
  /** How far the caller has read; undefined if the caller is not a member. */
  readSeq(): number | undefined;
  /** The name of an entity, also after it has left. */
  nameOf(entityId: string): string;
  /** A name that is not known otherwise. */
  noteName(entityId: string, name: string): void;
}

export function createInfo(caller: () => Caller | null): Info {
  const names = new Map<string, string>();
  let space: SpaceInfo | null = null;
  const member = (entityId: string | undefined) =>
    space?.members.find((each) => each.id === entityId);
  const self: Info = {
    get space() {
      return space;
    },
    put(found) {
      const members = found.members.map((each) => {
        names.set(each.id, each.name);
        // Read positions move forward only, and their events overtake others.
        return { ...each, readSeq: Math.max(each.readSeq, member(each.id)?.readSeq ?? 0) };
      });
      space = { ...found, members };
    },
    putMembers: (members) => self.put({ ...space!, members: [...members] }),
    others: (entityId) => space!.members.filter(({ id }) => id !== entityId),
    putRead(entityId, seq) {
      const reader = member(entityId);
      if (!reader || reader.readSeq >= seq) return false;
      self.putMembers(
        space!.members.map((each) => (each === reader ? { ...each, readSeq: seq } : each)),
      );
      return true;
    },
    readSeq: () => member(caller()?.entity?.id)?.readSeq,
    nameOf: (entityId) => names.get(entityId) ?? 'Someone',
    noteName(entityId, name) {
      if (!names.has(entityId)) names.set(entityId, name);
    },
  };
  return self;
}
