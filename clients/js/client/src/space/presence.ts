// The entities that are in a space right now. An entry expires unless a later frame renews it.
// Pure.

import type { PresenceEvent } from '../frames.ts';
import { same, sameList } from '../store.ts';
import type { PresenceState } from '../types.ts';

/** What the last frame says, and the moment for which it is read. */
export interface Presence {
  readonly last: Pick<PresenceEvent, 'present' | 'typing' | 'count' | 'at'>;
  /** How far the clock of this machine is ahead of the server's, as the last frame shows. */
  readonly aheadMs: number;
  /** Entries that end before this moment have ended, in milliseconds since 1970. */
  readonly now: number;
}

export const NO_PRESENCE: Presence = {
  last: { present: [], typing: [], at: '' },
  aheadMs: 0,
  now: 0,
};

/** Takes a frame over. The one with the newest `at` holds. */
export const withPresence = (presence: Presence, frame: PresenceEvent, now: number): Presence => {
  if (frame.at < presence.last.at) return { ...presence, now };
  // `until` is a time of the server. The clock of this machine may be hours off.
  return { last: frame, aheadMs: now - Date.parse(frame.at), now };
};

// A time that is missing is not a number, and compares as neither past nor future.
const timeOf = (presence: Presence, at = '') => Date.parse(at) + presence.aheadMs;

/** The entities that are present, and those that type. */
export function presenceView(
  { presence }: { presence: Presence },
  before?: PresenceState,
): PresenceState {
  const { last } = presence;
  const isPast = (until?: string) => timeOf(presence, until) <= presence.now;
  const entries = last.present.filter((each) => !isPast(each.until));
  const isTyping = (id: string) =>
    entries.some((entry) => entry.entityId === id && !isPast(entry.typingUntil));
  const present = entries.map(({ entityId, since }) => ({ entityId, since }));
  return {
    present: sameList(before?.present, present),
    typing: same(before?.typing as string[], last.typing.filter(isTyping)),
    count: Math.max(last.count ?? 0, present.length),
  };
}

/** After how long the next entry ends, in milliseconds; Infinity if none does. */
export const endsInMs = (presence: Presence) =>
  Math.min(
    ...presence.last.present
      .flatMap((entry) => [entry.until, entry.typingUntil])
      .map((at) => timeOf(presence, at) - presence.now)
      .filter((leftMs) => leftMs > 0),
    Infinity,
  );
