// Hooks for one space. Each takes the id of the space, or finds it in a `SpaceProvider`.

import type {
  FormsState,
  MembersState,
  PinsState,
  PresenceState,
  RunsState,
  Space,
  SpaceState,
  StreamState,
  ThreadState,
  TimelineState,
} from '@smartspace/client';
import { useMemo } from 'react';
import { useSpaceFor } from './context.ts';
import { LOADING, NONE, useStore } from './store.ts';

const NO_SPACE: SpaceState = { space: null, ...LOADING, isGone: false };
const NO_TIMELINE: TimelineState = { items: NONE, lines: NONE, hasOlder: false, ...LOADING };
const NO_TEXT: StreamState = { text: '', done: true };
const NO_RUNS: RunsState = { active: NONE, outcomes: {}, hints: {}, costs: {} };
const NO_MEMBERS: MembersState = { members: NONE, ...LOADING };
const NO_PRESENCE: PresenceState = { present: NONE, typing: NONE, count: 0 };
const NO_FORMS: FormsState = { forms: NONE };
const NO_ITEMS = { items: NONE, ...LOADING };

/**
 * Returns the settings and members of a space. It changes when they do, when a member reads, and
 * when the space is deleted or the caller leaves it (`isGone`).
 */
export const useSpace = (id?: string): SpaceState =>
  useStore(useSpaceFor('useSpace', id), NO_SPACE);

/** The messages of a space, and the function that loads older ones. */
export interface Timeline extends TimelineState {
  /** Loads the page of messages before the oldest one. It stays the same function. */
  loadOlder: Space['loadOlder'];
}

/**
 * Returns the lines of a space: messages, texts that agents are writing, messages on their way,
 * failed runs, days, and the unread line. It changes when a line comes, changes or goes. The lines
 * that did not change stay the same objects. The text of a `live` line is not in it: `useStream`.
 */
export function useTimeline(id?: string): Timeline {
  const { timeline, loadOlder } = useSpaceFor('useTimeline', id);
  const state = useStore(timeline, NO_TIMELINE);
  return useMemo(() => ({ ...state, loadOlder }), [state, loadOlder]);
}

/**
 * Returns the text that an agent is writing, by the `streamId` of a `live` line. It changes with
 * each piece of this text and with nothing else, so one token renders one component again. Call it
 * in the component of the line, not in that of the list.
 */
export const useStream = (streamId: string, spaceId?: string): StreamState =>
  useStore(useSpaceFor('useStream', spaceId).stream(streamId), NO_TEXT);

/**
 * Returns `send(text, options?)`, which posts a message. It stays the same function. The message is
 * in the timeline at once. The promise resolves to the stored message, and rejects if the server
 * refuses it; the timeline shows that as well.
 */
export const useSend = (id?: string): Space['send'] => useSpaceFor('useSend', id).send;

/** The functions that close a form. They stay the same. */
export interface AnswerFunctions {
  /** Answers the form of a call. `output` must match its `resultSchema`. */
  answer: Space['answer'];
  /** Declines the form of a call. */
  decline: Space['decline'];
}

/** Returns `{ answer, decline }` for the forms of a space. It stays the same object. */
export function useAnswer(id?: string): AnswerFunctions {
  const { answer, decline } = useSpaceFor('useAnswer', id);
  return useMemo(() => ({ answer, decline }), [answer, decline]);
}

/**
 * Returns the active runs of a space, and what became of each loaded message. It changes when a run
 * starts, moves on or ends, and when a message is decided.
 */
export const useRuns = (id?: string): RunsState =>
  useStore(useSpaceFor('useRuns', id).runs, NO_RUNS);

/** Returns the members of a space. It changes when one joins, leaves, changes or reads. */
export const useMembers = (id?: string): MembersState =>
  useStore(useSpaceFor('useMembers', id).members, NO_MEMBERS);

/** Returns who is in a space right now, and who types. It changes when somebody comes or goes. */
export const usePresence = (id?: string): PresenceState =>
  useStore(useSpaceFor('usePresence', id).presence, NO_PRESENCE);

/** Returns the open forms of a space. It changes when a form opens or closes. */
export const useForms = (id?: string): FormsState =>
  useStore(useSpaceFor('useForms', id).forms, NO_FORMS);

/**
 * Returns a message with all replies to it, by its seq, which is the `thread` of its replies. It
 * changes when one of them comes or changes.
 */
export const useThread = (seq: number, spaceId?: string): ThreadState =>
  useStore(useSpaceFor('useThread', spaceId).thread(seq), NO_ITEMS);

/** Returns the pinned messages of a space. It changes when they do. */
export const usePins = (id?: string): PinsState =>
  useStore(useSpaceFor('usePins', id).pins, NO_ITEMS);
