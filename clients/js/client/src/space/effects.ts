// What the reducer asks for: calls, timers, frames. An effect is data; interpreter.ts runs it.

import type { Message, PendingSend } from '../types.ts';
import type { Due, Moment } from './event.ts';
import type { State } from './state.ts';

/** Work with HTTP calls, by its name in jobs.ts. Two jobs with the same name and id are one. */
export type Job =
  | { job: 'load'; session: number }
  | { job: 'refresh' | 'info' | 'fill' | 'older' | 'read' }
  | { job: 'whole'; id: number; message: Message }
  | { job: 'settle'; id: string };

/** Something to do outside of the state. */
export type Effect =
  /** Begins to hold the connection open. */
  | { type: 'hold' }
  /** Follows the live events of the space. */
  | { type: 'follow' }
  /** Ends `hold` and `follow`. */
  | { type: 'release' }
  /** Repeats a job until it succeeds, after a delay if there is one. */
  | { type: 'job'; job: Job; delayMs?: number; isKept?: boolean }
  /** Dispatches an event after a while. With `isLasting` also after the space was left. */
  | { type: 'later'; event: Due; delayMs: number; isKept?: boolean; isLasting?: boolean }
  /** Ends all delays and repetitions but lasting ones. */
  | { type: 'stopTimers' }
  /** Sends a frame if the connection is open. */
  | { type: 'frame'; frame: object }
  /** Finds out whether the connection is alive. */
  | { type: 'checkConnection' }
  /** `name` is the place of a send in the storage; null while there is none. */
  | { type: 'post'; send: PendingSend; name: string | null }
  /** Stores a send, or removes it. */
  | { type: 'store'; name: string; send?: PendingSend }
  /** Marks a send as discarded, for other tabs. */
  | { type: 'mark'; name: string }
  /** Settles the promise of a send; without a key, of all sends. */
  | { type: 'settle'; key?: string; message?: Message; error?: Error };

/**
 * A copy of the state while one event changes it, with the moment of the event and the effects that
 * follow. Only the reducer sees it. The parts of the state are never changed, but replaced.
 */
export type Draft = { -readonly [K in keyof State]: State[K] } & Moment & { effects: Effect[] };

/** Asks for an effect, which is run after those before it. */
export const emit = (draft: Draft, effect: Effect) => void draft.effects.push(effect);

/** Starts a job. With a delay it can be kept: a job of this name that waits already stays. */
export function start(draft: Draft, job: Job, delayMs?: number, isKept = false) {
  if (delayMs === undefined) emit(draft, { type: 'job', job });
  // Nobody sees what a space that is not followed would fetch.
  else if (isFollowed(draft)) emit(draft, { type: 'job', job, delayMs, isKept });
}

/** Dispatches an event after a while, if somebody still follows the space. */
export function later(draft: Draft, delayMs: number, event: Due, isKept = false) {
  if (isFollowed(draft)) emit(draft, { type: 'later', event, delayMs, isKept });
}

/** Whether somebody wants the live events. */
export const isFollowed = ({ isOpen, isWatched }: State) => isOpen || isWatched;
