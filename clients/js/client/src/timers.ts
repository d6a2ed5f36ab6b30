// Named timers that end together, and attempts that are repeated until they succeed.

import type { Environment } from './environment.ts';
import { isTemporary } from './errors.ts';
import { LONGEST_RETRY_MS, RETRY_MS } from './limits.ts';

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
   * error and whether another attempt follows.
   */
  persist(
    name: string,
    act: () => Promise<void>,
    failed?: (error: Error, again: boolean) => void,
  ): void;
}

export function createTimers(env: Environment): Timers {
  const timers = new Map<string, unknown>();
  let era = 0;
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
      era += 1;
      [...timers.keys()].forEach(self.clear);
    },
    persist(name, act, failed) {
      const mine = era;
      const startedAt = env.now();
      const attempt = () =>
        void act().catch((error) => {
          if (mine !== era) return;
          failed?.(error, isTemporary(error));
          if (!isTemporary(error)) return;
          const delayMs = backOff(env.now() - startedAt, RETRY_MS, LONGEST_RETRY_MS);
          self.after(name, Math.max(delayMs, (error.retryAfter ?? 0) * 1000), attempt);
        });
      self.clear(name);
      attempt();
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
