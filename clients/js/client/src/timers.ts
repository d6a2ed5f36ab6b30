// Named timers that are stopped together, and attempts that are repeated until they succeed.

import type { Environment } from './environment.ts';
import { isTemporary } from './errors.ts';
import { LONGEST_RETRY_MS, FIRST_RETRY_MS } from './limits.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1; // Longer ones fire at once.

export interface Timers {
  /** Calls `act` after a while. A timer with the same name is replaced. */
  after(name: string, delayMs: number, act: () => void): void;
  has(name: string): boolean;
  clear(name: string): void;
  /** Ends all timers. Attempts that are under way are not repeated. */
  stop(): void;
  /**
   * Repeats `act` until it succeeds, fails for good, or the timers are stopped. `failed` gets each
   * error and whether another attempt follows. While an attempt with the same name is under way, it
   * begins after that one, or beside it after two seconds. Then only its own end counts.
   */
  persist(
    name: string,
    act: () => Promise<void>,
    failed?: (error: Error, again: boolean) => void,
  ): void;
}

export function createTimers(env: Environment): Timers {
  const timers = new Map<string, unknown>();
  // The newest attempts under way. After a stop it is another map.
  let attempts = new Map<string, { next?: () => void }>();
  const self: Timers = {
    after(name, delayMs, act) {
      self.clear(name);
      timers.set(
        name,
        env.setTimeout(
          () => {
            timers.delete(name);
            act();
          },
          Math.min(delayMs, LONGEST_TIMER_MS),
        ),
      );
    },
    has: (name) => timers.has(name),
    clear(name) {
      env.clearTimeout(timers.get(name));
      timers.delete(name);
    },
    stop() {
      attempts = new Map();
      [...timers.keys()].forEach(self.clear);
    },
    persist(name, act, failed) {
      const mine = attempts;
      const startedAt = env.now();
      const attempt = async () => {
        self.clear(name);
        const current: { next?: () => void } = {};
        mine.set(name, current);
        const error = await act().catch((found) => found);
        if (mine !== attempts || mine.get(name) !== current) return;
        mine.delete(name);
        if (current.next) return current.next();
        if (!error) return;
        const isRepeated = isTemporary(error);
        failed?.(error, isRepeated);
        if (!isRepeated) return;
        const delayMs = backOff(env.now() - startedAt, FIRST_RETRY_MS, LONGEST_RETRY_MS);
        self.after(name, Math.max(delayMs, (error.retryAfter ?? 0) * 1000), attempt);
      };
      const current = mine.get(name);
      if (!current) return void attempt();
      // The attempt under way may have read too early, so another one follows. It waits, since two
      // at once could end in another order, but not long: the first one may use a dead network.
      current.next = attempt;
      self.after(name, FIRST_RETRY_MS, attempt);
    },
  };
  return self;
}

/**
 * How long to wait after an outage of `lengthMs`, between the two limits. A short outage is over
 * soon. A long one is not ended by many attempts.
 */
export const backOff = (lengthMs: number, firstMs: number, longestMs: number) =>
  Math.min(Math.max(firstMs, lengthMs / 6), longestMs);
