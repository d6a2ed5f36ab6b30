// The effects that the reducer asks for: calls, timers, frames. An effect is the name of a method
// of `Effects` with its arguments. interpreter.ts runs it.

import type { Message, PendingSend } from '../types.ts';
import type { State } from './state.ts';

/** The clock, randomness and the page are inputs of the reducer too. */
export interface Inputs {
  /** Milliseconds since 1970. */
  now: number;
  /** From 0 to 1. */
  random: number;
}

/** Work with HTTP calls, by its name in jobs.ts. Two jobs with the same name and id are one. */
export type JobName =
  | 'load'
  | 'refresh'
  | 'info'
  | 'fillGap'
  | 'latestPage'
  | 'read'
  | 'fullMessage'
  | 'replaceStream'
  | 'parent'
  | 'thread';

/** A change that is made after a while, by its name in delayed_changes.ts. */
export type DelayedName = 'checkGap' | 'checkSilence' | 'expirePresence' | 'forgetEnded';

/** What a job concerns: a session, a message or a stream. */
export type JobArgument = number | string | Message;

/** What there is to do outside of the state. */
export interface Effects {
  /** Follows the live events of the space. */
  follow(): void;
  unfollow(): void;
  /** Repeats a job until it succeeds. */
  job(name: JobName, argument?: JobArgument): void;
  /**
   * Starts a job after a while, if somebody follows the space and sees what it brings. If it is
   * kept, one that waits already stays.
   */
  jobLater(name: JobName, delayMs: number, argument?: JobArgument, isKept?: boolean): void;
  /** Makes a change for `id` after a while, under the same conditions as `jobLater`. */
  later(name: DelayedName, delayMs: number, id?: string, isKept?: boolean): void;
  /** Stops the timers of `job`, `jobLater` and `later`. */
  stopTimers(): void;
  /** Posts the sends that wait after a while, also if the space was left. */
  postLater(delayMs: number): void;
  /** Sends a frame if the connection is open. */
  frame(frame: object): void;
  /** Finds out whether the connection is alive. */
  check(): void;
  post(send: PendingSend): void;
  /** Finds the sends that an earlier page left in the storage, once the caller is known. */
  restore(): void;
  /** Stores a send, or removes it. */
  store(key: string, send?: PendingSend): void;
  /** Marks a send as discarded, for other tabs. */
  mark(key: string): void;
  /** Resolves the promise of a send, or rejects it if there is no message. */
  resolveSend(key: string, message: Message | null, error?: Error): void;
}

type Name = keyof Effects;

/** Something to do outside of the state. */
export type Effect = { [N in Name]: readonly [N, ...Parameters<Effects[N]>] }[Name];

/**
 * A copy of the state while one change is made, with the moment of the change and the effects that
 * follow. The parts of the state are never changed, but replaced.
 */
export type Draft = { -readonly [K in keyof State]: State[K] } & Inputs & { effects: Effect[] };

/** Changes a draft. It is pure but for that. */
export type Change<Given extends unknown[] = []> = (draft: Draft, ...given: Given) => void;

/** Makes a change of a space: the next state, then its effects. */
export type MakeChange = <Given extends unknown[]>(change: Change<Given>, ...given: Given) => void;

/** The change that sets parts of the state. */
export const patch: Change<[Partial<State>]> = Object.assign;

/** Asks for an effect, which is run after those before it. */
export const emit = (draft: Draft, ...effect: Effect) => void draft.effects.push(effect);

/** Whether somebody wants the live events. */
export const isFollowed = (state: State) => state.isOpen || state.isWatched;
