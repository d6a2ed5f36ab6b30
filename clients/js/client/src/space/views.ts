// What the stores of a space show, derived from its state. Parts that did not change stay the same
// objects: `before` is the value before. Pure.

import { same, sameList } from '../store.ts';
import type {
  ActiveRun,
  FormsState,
  MembersState,
  Outcome,
  RunsState,
  SpaceState,
  SpaceSummary,
  StreamState,
  TimelineItem,
  TimelineState,
} from '../types.ts';
import { formsOf } from './forms.ts';
import { hasOlder, isLoadingOlder } from './history.ts';
import { memberOf } from './members.ts';
import { hasEnded, outcomeOf, type Runs } from './runs.ts';
import { meId, type State } from './state.ts';
import type { Stream } from './streams.ts';
import { itemsOf } from './timeline.ts';

const NOBODY: MembersState['members'] = [];

export const spaceView = ({ space, isLoading, error, isGone }: State): SpaceState => ({
  space,
  isLoading,
  error,
  isGone,
});

export const membersView = ({ space, isLoading, error }: State): MembersState => ({
  members: space?.members ?? NOBODY,
  isLoading,
  error,
});

export const timelineView = (state: State, before?: TimelineState): TimelineState => ({
  items: same(before?.items as TimelineItem[], itemsOf(state, before?.items ?? [])),
  hasOlder: hasOlder(state),
  isLoading: state.isLoading || isLoadingOlder(state),
  error: state.error,
});

export function runsView(state: State, before?: RunsState): RunsState {
  const spoken = new Set(state.messages.map((each) => each.runId));
  const writing = new Set([...state.streams.values()].map((each) => each.about.runId));
  const outcomes: Record<string, readonly Outcome[]> = {};
  for (const { id, seq, dispatch } of state.messages) {
    const isNew = seq > state.loadedUntil;
    const found = dispatch?.map((entry) => outcomeOf(entry, state, spoken, writing, isNew));
    if (found) outcomes[id] = sameList(before?.outcomes[id], found);
  }
  return {
    active: activeRuns(state, before?.active),
    outcomes: same(before?.outcomes, outcomes),
    hints: state.hints,
  };
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
  unread: Math.max(0, state.lastKnown - (memberOf(state, meId(state))?.readSeq ?? Infinity)),
  lastMessage: state.messages.at(-1) ?? null,
  activity: activeRuns(state, before?.activity),
});
