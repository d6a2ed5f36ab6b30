// The settings of a space, its members, and how far each has read.

import type { Member, SpaceInfo } from '../types.ts';
import { emit, type Draft } from './effects.ts';
import { PINS } from './elsewhere.ts';
import type { State } from './state.ts';
import { loadThread } from './threads.ts';

/** A member of the space. */
export const memberOf = ({ space }: State, entityId: string | undefined) =>
  space?.members.find((each) => each.id === entityId);

/** Takes over the settings and members. */
export function putSpace(draft: Draft, found: SpaceInfo) {
  const names = new Map(draft.names);
  const members = found.members.map((each) => {
    names.set(each.id, each.name);
    // Read positions move forward only, and their events overtake others.
    return { ...each, readSeq: Math.max(each.readSeq, memberOf(draft, each.id)?.readSeq ?? 0) };
  });
  draft.names = names;
  const isPinned = draft.space?.pins?.join() !== found.pins?.join();
  if (isPinned) loadThread(draft, PINS);
  draft.space = { ...found, members };
}

/** Replaces or removes a member, if the space is known. */
export function putMember(draft: Draft, entityId: string, member?: Member) {
  const { space } = draft;
  if (!space) return;
  const members = space.members.flatMap((each) => (each.id === entityId ? (member ?? []) : each));
  if (member && !members.includes(member)) members.push(member);
  putSpace(draft, { ...space, members });
}

/** Records that a member has read up to this seq. Returns whether that is news. */
export function putRead(draft: Draft, entityId: string | undefined, seq: number): boolean {
  const reader = memberOf(draft, entityId);
  if (!reader || reader.readSeq >= seq) return false;
  putMember(draft, reader.id, { ...reader, readSeq: seq });
  return true;
}

/** Adds a name that is not known otherwise. */
export function putName(draft: Draft, { id, name }: Pick<Member, 'id' | 'name'>) {
  if (!draft.names.has(id)) draft.names = new Map(draft.names).set(id, name);
}

/** An event has changed the settings or members. */
export function changeInfo(draft: Draft, at: string, change: () => void) {
  // An event that others have overtaken says what no longer holds.
  if (at < draft.infoAt) return loadInfo(draft);
  draft.infoAt = at;
  change();
}

/** Loads the settings and members. */
export const loadInfo = (draft: Draft) => emit(draft, 'job', 'info');
