// The stores of a space. Each notifies its subscribers when the part of the state changes that it
// shows.

import type { Environment } from '../environment.ts';
import { createStore, lifetime, type OwnStore } from '../store.ts';
import type { Store, StreamState, ThreadState } from '../types.ts';
import type { MakeChange } from './effects.ts';
import { PINS } from './elsewhere.ts';
import { presenceView } from './presence.ts';
import type { State } from './state.ts';
import { areListedAlike } from './streams.ts';
import { threadLeft, threadOpened } from './threads.ts';
import {
  formsView,
  membersView,
  pinsView,
  runsView,
  spaceView,
  streamView,
  summaryView,
  threadView,
  timelineView,
} from './views.ts';

// Parts of the state that change often. They have stores of their own, or none.
const WITHOUT_SHARED_STORES: readonly string[] = [
  'streams',
  'closedStreams',
  'checkedAt',
  'presence',
  'typedAt',
  'typingSentAt',
];

const isAlike = (before: State, after: State) =>
  areListedAlike(before, after) &&
  (Object.keys(after) as (keyof State)[]).every(
    (part) => before[part] === after[part] || WITHOUT_SHARED_STORES.includes(part),
  );

/** What stores need of their space. */
interface StoresContext {
  env: Environment;
  state(): State;
  change: MakeChange;
  /** Called for each subscriber. */
  retain: () => () => void;
  /** Called after each change that a list may show. */
  changed(): void;
}

export function createStores(context: StoresContext) {
  const { state, retain, changed } = context;
  const storeOf = <T extends object>(view: (state: State, before?: T) => T, hold = retain) =>
    createStore<T>((before) => view(state(), before), hold);
  const streams = new Map<string, OwnStore<StreamState>>();
  const stores = {
    main: storeOf(spaceView),
    members: storeOf(membersView),
    timeline: storeOf(timelineView),
    runs: storeOf(runsView),
    forms: storeOf(formsView),
  };
  const presence = storeOf(presenceView);
  const pins = storeOf(pinsView, whileShown(context, PINS));
  const threads = new Map<number, OwnStore<ThreadState>>();
  const threadOf = (first: number) =>
    storeOf<ThreadState>(
      (given, before) => threadView(given, first, before),
      whileShown(context, first),
    );
  const summary = storeOf(summaryView, () => () => {});
  return {
    ...stores,
    presence,
    pins,
    summary,
    /** The store of a thread: always the same one. */
    thread(first: number): Store<ThreadState> {
      const store = threads.get(first) ?? threadOf(first);
      threads.set(first, store);
      return store;
    },
    /** The store of the text of a stream: always the same one, until the stream is over. */
    stream(streamId: string): Store<StreamState> {
      const store =
        streams.get(streamId) ??
        storeOf<StreamState>((given, before) => streamView(given.streams.get(streamId), before));
      streams.set(streamId, store);
      return store;
    },
    /** Marks the stores as outdated that show what differs between two states. */
    notify(before: State, after: State) {
      for (const [id, store] of streams) {
        if (before.streams.get(id) !== after.streams.get(id)) store.changed();
        // Its text changes no more, and nobody shows it.
        else if (after.closedStreams.has(id) && !store.isUsed()) streams.delete(id);
      }
      if (before.presence !== after.presence) presence.changed();
      // One more token of a text is no news for the others, which would render for each.
      if (isAlike(before, after)) return;
      for (const store of [...Object.values(stores), ...threads.values(), pins, summary])
        store.changed();
      changed();
    },
  };
}

// Keeps the space open and a thread loaded while somebody shows it.
function whileShown({ env, change, retain }: StoresContext, first: number) {
  const hold = lifetime(env, () => {
    change(threadOpened, first);
    return () => change(threadLeft, first);
  });
  return () => {
    const stops = [retain(), hold()];
    return () => stops.forEach((stop) => stop());
  };
}
