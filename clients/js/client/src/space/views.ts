// What the stores of a space show, derived from its state. Parts that did not change stay the same
// objects: `before` is the value before. Pure.

import { same, sameList } from '../store.ts';
import type {
  FormsState,
  MembersState,
  Outcome,
  RunsState,
  SpaceState,
  SpaceSummary,
  StreamState,
  TimelineState,
} from '../types.ts';
import { formsOf } from './forms.ts';
import { hasOlder, isLoadingOlder } from './history.ts';
import { readSeqOf } from './info.ts';
import { hasEnded, hintsOf, outcomeOf } from './runs.ts';
import { meId, type State } from './state.ts';
import { itemsOf } from './timeline.ts';

const NOBODY: MembersState['members'] = [];

export const spaceView = (state: State, before?: SpaceState): SpaceState => {
  const { space, isLoading, error, isGone } = state;
  return same(before, { space, isLoading, error, isGone });
};

export const membersView = ({ space, isLoading, error }: State, before?: MembersState) =>
  same<MembersState>(before, { members: space?.members ?? NOBODY, isLoading, error });

export const timelineView = (state: State, before?: TimelineState): TimelineState =>
  same(before, {
    items: same<TimelineState['items']>(before?.items, itemsOf(state, before?.items ?? [])),
    hasOlder: hasOlder(state.history),
    isLoading: state.isLoading || isLoadingOlder(state.history),
    error: state.error,
  });

export function runsView({ runs, history, streams }: State, before?: RunsState): RunsState {
  const spoken = new Set(history.list.map(({ runId }) => runId));
  const writing = new Set([...streams.open.values()].map(({ about }) => about.runId));
  const outcomes: Record<string, readonly Outcome[]> = {};
  for (const { id, seq, dispatch } of history.list) {
    const circumstances = { spoken, writing, isNew: seq > runs.loadedUntil };
    const found = dispatch?.map((entry) => outcomeOf(entry, runs, circumstances));
    if (found) outcomes[id] = sameList(before?.outcomes[id], found);
  }
  return same<RunsState>(before, {
    active: same<RunsState['active']>(before?.active, [...runs.active.values()]),
    outcomes: same(before?.outcomes, outcomes),
    hints: same(before?.hints, hintsOf(runs)),
  });
}

export function formsView(state: State, before?: FormsState): FormsState {
  const { id, history, caller, forms, runs } = state;
  const loaded = history.list.flatMap((message) => formsOf(id, message, caller));
  const others = [...forms.values()].filter(
    ({ runId, callId }) => !hasEnded(runs, runId) && !loaded.some((form) => form.callId === callId),
  );
  return same<FormsState>(before, { forms: sameList(before?.forms, [...others, ...loaded]) });
}

export function streamView({ streams }: State, streamId: string, before?: StreamState) {
  const stream = streams.open.get(streamId);
  return same<StreamState>(before, {
    // The text stays until its message takes its place in the timeline.
    text: stream?.text ?? before?.text ?? '',
    done: !stream || stream.isEnding,
  });
}

export function summaryView(state: State, before?: SpaceSummary): SpaceSummary {
  const { id, space, history, runs } = state;
  const readSeq = readSeqOf(state, meId(state)) ?? Infinity;
  return same<SpaceSummary>(before, {
    id,
    name: space?.name ?? '',
    unread: Math.max(0, history.lastKnown - readSeq),
    lastMessage: history.list.at(-1) ?? null,
    activity: same<SpaceSummary['activity']>(before?.activity, [...runs.active.values()]),
  });
}
