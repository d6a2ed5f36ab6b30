// Presence in one space: shows who is there, and tells the others that the caller is.

import type { Connection } from './connection.ts';
import type { Environment } from './environment.ts';
import type { PresenceEvent } from './events.ts';
import { createPresence } from './presence.ts';
import { same, sameList, type OwnStore } from './store.ts';
import type { Timers } from './timers.ts';
import type { PresenceState, Store } from './types.ts';

const TYPING_MS = 3000;

export interface SpacePresence {
  store: Store<PresenceState>;
  changed(): void;
  received(frame: PresenceEvent): void;
  /** Tells the others that the caller is here. */
  tell(): void;
  setTyping(isTyping: boolean): void;
}

export interface SpacePresenceContext {
  env: Environment;
  spaceId: string;
  connection: Connection;
  /** Like `timers.after`, while somebody follows the space. */
  after: Timers['after'];
  createStore<T>(compute: (before: T | undefined) => T): OwnStore<T>;
  /** Whether the others may know that the caller has the space open. */
  isTold(): boolean;
}

export function createSpacePresence(context: SpacePresenceContext): SpacePresence {
  const { env, spaceId, connection, after } = context;
  const presence = createPresence();
  let typingAt = 0;
  let typingSentAt = 0;

  const store = context.createStore<PresenceState>((before) => {
    const { present, typing, count } = presence.state(env.now());
    return same(before, {
      present: sameList(before?.present, present),
      typing: same(before?.typing as string[], typing),
      count,
    });
  });

  function expire() {
    const leftMs = presence.endsAt(env.now()) - env.now();
    if (leftMs < Infinity)
      after('presence', leftMs + 1, () => {
        store.changed();
        expire();
      });
  }

  function tell() {
    if (!context.isTold()) return;
    const typing = env.now() - typingAt < TYPING_MS;
    if (typing) typingSentAt = env.now();
    connection.send({ action: 'presence', spaceId, typing, hidden: env.isHidden() });
  }

  return {
    store,
    changed: store.changed,
    received(frame) {
      presence.put(frame, env.now());
      store.changed();
      expire();
    },
    tell,
    setTyping(isTyping) {
      const isDue = isTyping ? env.now() - typingSentAt >= TYPING_MS : typingAt > 0;
      typingAt = isTyping ? env.now() : 0;
      if (isDue) tell();
      if (!isTyping) typingSentAt = 0;
    },
  };
}
