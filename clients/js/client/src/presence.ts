// Who is in a space right now. Entries end by themselves if nothing more is heard.

import type { PresenceEvent } from './events.ts';
import type { PresenceState } from './types.ts';

export interface Presence {
  /** Handles a frame. The one with the newest `at` holds. */
  put(frame: PresenceEvent): void;
  state(now: number): PresenceState;
  /** When the next entry ends, in milliseconds since 1970; Infinity if none does. */
  endsAt(now: number): number;
}

const EMPTY: Pick<PresenceEvent, 'present' | 'typing' | 'count' | 'at'> = {
  present: [],
  typing: [],
  at: '',
};

export function createPresence(): Presence {
  let last = EMPTY;
  const isPast = (until: string | undefined, now: number) =>
    until !== undefined && Date.parse(until) <= now;
  const entries = (now: number) => last.present.filter(({ until }) => !isPast(until, now));
  return {
    put(frame) {
      if (frame.at >= last.at) last = frame;
    },
    state(now) {
      const present = entries(now);
      const isTyping = (id: string) =>
        present.some(({ entityId, typingUntil }) => entityId === id && !isPast(typingUntil, now));
      return {
        present: present.map(({ entityId, since }) => ({ entityId, since })),
        typing: last.typing.filter(isTyping),
        count: Math.max(last.count ?? 0, present.length),
      };
    },
    endsAt: (now) =>
      Math.min(
        ...last.present
          .flatMap(({ until, typingUntil }) => [
            Date.parse(until),
            Date.parse(typingUntil ?? until),
          ])
          .filter((at) => at > now),
        Infinity,
      ),
  };
}
