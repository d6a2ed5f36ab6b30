// Who is in a space right now. Entries end by themselves if nothing more is heard.

import type { PresenceEvent } from './events.ts';
import type { PresenceState } from './types.ts';

export interface Presence {
  /** Handles a frame. The one with the newest `at` holds. */
  put(frame: PresenceEvent, now: number): void;
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
  // How far the clock of this machine is ahead of the server's, as the last frame shows.
  let aheadMs = 0;
  const timeOf = (at: string) => Date.parse(at) + aheadMs;
  const isPast = (until: string | undefined, now: number) =>
    until !== undefined && timeOf(until) <= now;
  const entries = (now: number) => last.present.filter(({ until }) => !isPast(until, now));
  return {
    put(frame, now) {
      if (frame.at < last.at) return;
      last = frame;
      aheadMs = now - Date.parse(frame.at);
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
          .flatMap(({ until, typingUntil }) => [timeOf(until), timeOf(typingUntil ?? until)])
          .filter((at) => at > now),
        Infinity,
      ),
  };
}
