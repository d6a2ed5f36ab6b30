// What the stores of a space show, derived from its state. Parts that did not change stay the same
// objects: `before` is the value before. Pure.

import { same, sameList } from '../store.ts';
import type {
  ActiveRun,
  FormsState,
  MembersState,
  Message,
  Outcome,
  Pin,
  PinsState,
  Reaction,
  RunsState,
  SpaceInfo,
  SpaceState,
  SpaceSummary,
  StreamState,
  ThreadState,
  TimelineItem,
  TimelineState,
} from '../types.ts';
import { PINS } from './elsewhere.ts';
import { formsOf } from './forms.ts';
import { hasOlder, isLoadingOlder } from './history.ts';
import { pinsWithUnconfirmed, withUnconfirmed, type Unconfirmed } from './optimistic.ts';
import { hasEnded, outcomeOf, type Runs } from './runs.ts';
import type { State } from './state.ts';
import type { Stream } from './streams.ts';
import { itemsOf, messageView, threadItemsOf } from './timeline.ts';
import { lastOf, unreadOf } from './unread.ts';

const NOBODY: MembersState['members'] = [];
const NO_LINES: TimelineState['lines'] = [];

export const spaceView = (
  { space, unconfirmed, isLoading, error, isGone }: State,
  before?: SpaceState,
): SpaceState => ({
  space: withUnconfirmedPins(space, unconfirmed, before?.space),
  isLoading,
  error,
  isGone,
});

function withUnconfirmedPins(
  space: SpaceInfo | null,
  unconfirmed: Unconfirmed,
  before?: SpaceInfo | null,
): SpaceInfo | null {
  const pins = space?.pins ?? [];
  const shown = pinsWithUnconfirmed(unconfirmed, pins);
  if (!space || shown === pins) return space;
  return same(before ?? undefined, { ...space, pins: same(before?.pins, shown) });
}

export const membersView = ({ space, isLoading, error }: State): MembersState => ({
  members: space?.members ?? NOBODY,
  isLoading,
  error,
});

export const timelineView = (state: State, before?: TimelineState): TimelineState => ({
  items: same(before?.items as TimelineItem[], itemsOf(state, before?.items ?? [])),
  // As long as the messages are not loaded, the lines would stand alone.
  lines: state.isLoading ? NO_LINES : state.lines,
  hasOlder: hasOlder(state),
  isLoading: state.isLoading || isLoadingOlder(state),
  error: state.error,
});

export const threadView = (state: State, first: number, before?: ThreadState): ThreadState => ({
  items: same(before?.items as TimelineItem[], threadItemsOf(state, first, before?.items ?? [])),
  isLoading: true,
  error: null,
  ...state.threads.get(first),
});

export function pinsView(state: State, before?: PinsState): PinsState {
  const { pins = [], isLoading = true, error = null } = state.threads.get(PINS) ?? {};
  const pinned = pinsWithUnconfirmed(state.unconfirmed, state.space?.pins ?? []);
  const existing = new Map(before?.items.map((each) => [each.message.seq, each]));
  const shown = pins.flatMap(({ seq, ...pin }): Pin[] => {
    const message = state.elsewhere.get(seq);
    if (!message || message.deleted || !pinned.includes(seq)) return [];
    const known = existing.get(seq);
    return [same(known, { ...pin, message: messageView(state, message, known?.message) })];
  });
  return { items: same(before?.items as Pin[], shown), isLoading, error };
}

export function runsView(state: State, before?: RunsState): RunsState {
  const spoken = new Set(state.messages.map((each) => each.runId));
  const writing = new Set([...state.streams.values()].map((each) => each.about.runId));
  const outcomes: Record<string, readonly Outcome[]> = {};
  for (const { id, seq, dispatch, reactions = [] } of state.messages) {
    const isNew = seq > state.loadedUntil;
    const found = dispatch?.map((entry) =>
      withReaction(outcomeOf(entry, state, spoken, writing, isNew), reactions),
    );
    if (found) outcomes[id] = sameList(before?.outcomes[id], found);
  }
  return {
    active: activeRuns(state, before?.active),
    outcomes: same(before?.outcomes, outcomes),
    hints: state.hints,
    costs: same(before?.costs, costsOf(state)),
  };
}

const costsOf = ({ runs }: Runs) =>
  Object.fromEntries(
    [...runs.values()].flatMap(({ id, usage }) =>
      typeof usage?.cost === 'number' ? [[id, usage.cost] as const] : [],
    ),
  );

// An agent that reacts has answered.
function withReaction(outcome: Outcome, reactions: readonly Reaction[]): Outcome {
  if (outcome.state !== 'silent') return outcome;
  const own = reactions.find((each) => each.entityIds.includes(outcome.agentId));
  return own ? { ...outcome, state: 'reacted', reason: own.emoji } : outcome;
}

const activeRuns = ({ active }: Runs, before?: readonly ActiveRun[]) =>
  same(before as ActiveRun[], [...active.values()]);

export function formsView(state: State, before?: FormsState): FormsState {
  const loaded = state.messages.flatMap((each) => formsOf(state.id, each, state.caller));
  const others = [...state.forms.values()].flatMap((form) =>
    form && !hasEnded(state, form.runId) && !loaded.some((each) => each.callId === form.callId)
      ? form
      : [],
  );
  return { forms: sameList(before?.forms, [...others, ...loaded]) };
}

export const streamView = (stream?: Stream, before?: StreamState): StreamState => ({
  // The text stays until its message takes its place in the timeline.
  text: stream?.text ?? before?.text ?? '',
  done: !stream || stream.isEnding,
});

export const summaryView = (state: State, before?: SpaceSummary): SpaceSummary => ({
  id: state.id,
  name: state.space?.name ?? '',
  unread: unreadOf(state),
  lastMessage: lastOf(state.listed, lastMessageOf(state)),
  activity: activeRuns(state, before?.activity),
  paused: state.space?.paused ?? false,
});

function lastMessageOf({ messages, unconfirmed }: State): Message | null {
  const last = messages.at(-1);
  return last ? withUnconfirmed(unconfirmed, last) : null;
}
