// Stores with subscribers, and the lifetime of the work that they need.

import type { Environment } from './environment.ts';
import { GRACE_MS } from './limits.ts';
import type { Store } from './types.ts';

/** A store whose owner says when it has changed. */
export interface OwnStore<T> extends Store<T> {
  /** Marks the snapshot as outdated. Subscribers are called once per task, however many calls. */
  changed(): void;
  /** Whether somebody subscribes. */
  isUsed(): boolean;
}

const waiting = new Set<() => void>();

function flush() {
  const due = [...waiting];
  waiting.clear();
  for (const notify of due) notify();
}

/**
 * A store with the value that `compute` returns, or the value before if nothing differs. `compute`
 * gets the value before, to keep its parts identical. `retain` is called for each subscriber; the
 * function that it returns is called when the subscriber leaves.
 */
export function createStore<T extends object>(
  compute: (before: T | undefined) => T,
  retain: () => () => void,
): OwnStore<T> {
  const listeners = new Set<() => void>();
  let value: T | undefined;
  let isOutdated = true;
  // In tasks of their own: the error of one is reported, and the others are called.
  const notify = () => listeners.forEach((listener) => queueMicrotask(listener));
  return {
    subscribe(given) {
      // A function of its own, so that one listener can subscribe twice.
      const listener = () => given();
      listeners.add(listener);
      const release = retain();
      return () => {
        if (listeners.delete(listener)) release();
      };
    },
    getSnapshot() {
      if (isOutdated) value = same(value, compute(value));
      isOutdated = false;
      return value as T;
    },
    isUsed: () => listeners.size > 0,
    changed() {
      isOutdated = true;
      if (waiting.size === 0) queueMicrotask(flush);
      waiting.add(notify);
    },
  };
}

/**
 * Starts work with the first holder and ends it a moment after the last one has left. The result
 * makes a holder, and returns the function with which it leaves.
 */
export function lifetime(env: Environment, start: () => () => void): () => () => void {
  let holders = 0;
  let stop: (() => void) | null = null;
  let timer: unknown;
  return () => {
    holders += 1;
    env.clearTimeout(timer);
    stop ??= start();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      holders -= 1;
      if (holders > 0) return;
      timer = env.setTimeout(() => {
        stop?.();
        stop = null;
      }, GRACE_MS);
    };
  };
}

/** `after`, or `before` if both have the same values. Keeps snapshots and their parts identical. */
export function same<T extends object>(before: T | undefined, after: T): T {
  if (!before) return after;
  const keys = Object.keys(after) as (keyof T)[];
  return keys.length === Object.keys(before).length &&
    keys.every((key) => Object.is(before[key], after[key]))
    ? before
    : after;
}

/** Like `same`, also for the members of a list, which are matched by their position. */
export function sameList<T extends object>(
  before: readonly T[] | undefined,
  after: readonly T[],
): T[] {
  return same(
    before as T[],
    after.map((item, index) => same(before?.[index], item)),
  );
}

/** A value whose parts can be replaced. */
export type Mutable<T> = { -readonly [Part in keyof T]: T[Part] };
