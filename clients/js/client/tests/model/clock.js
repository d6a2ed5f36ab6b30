// A clock that a test moves. Timers run in order, and all promises are settled after each.

import { setImmediate as settle } from 'node:timers/promises';

export class Clock {
  now = Date.UTC(2026, 4, 1, 12);
  #timers = new Map();
  #lastId = 0;

  /** How many timers were set. */
  get count() {
    return this.#lastId;
  }

  setTimeout = (act, delayMs) => {
    this.#lastId += 1;
    // As platforms do it.
    const waitMs = delayMs > 2 ** 31 - 1 ? 1 : Math.max(0, delayMs);
    this.#timers.set(this.#lastId, { at: this.now + waitMs, act });
    return this.#lastId;
  };

  clearTimeout = (id) => void this.#timers.delete(id);

  /** Resolves after this long. */
  delay = (delayMs) => new Promise((resume) => this.setTimeout(resume, delayMs));

  /** Moves the clock and runs what is due. */
  async advance(lengthMs) {
    const end = this.now + lengthMs;
    await settle();
    for (;;) {
      let next;
      for (const [id, timer] of this.#timers)
        if (timer.at <= end && (!next || timer.at < next.timer.at)) next = { id, timer };
      if (!next) break;
      this.#timers.delete(next.id);
      this.now = Math.max(this.now, next.timer.at);
      next.timer.act();
      await settle();
    }
    this.now = end;
  }
}

/** Random numbers that a seed determines (mulberry32). */
export function randomOf(seed) {
  let state = (seed * 0x9e3779b9) >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  random.below = (count) => Math.floor(random() * count);
  random.chance = (probability) => random() < probability;
  random.of = (list) => list[random.below(list.length)];
  return random;
}
