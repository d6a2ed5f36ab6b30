// The stores of a space. Each notifies its subscribers when the part of the state changes that it
// shows.

import { createStore, type OwnStore } from '../store.ts';
import type { Store, StreamState } from '../types.ts';
import { presenceView } from './presence.ts';
import type { State } from './state.ts';
import { areListedAlike } from './streams.ts';
import {
  formsView,
  membersView,
  runsView,
  spaceView,
  streamView,
  summaryView,
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

/** `retain` is called for each subscriber; `changed` after each change that a list may show. */
export function createStores(state: () => State, retain: () => () => void, changed: () => void) {
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
  const summary = storeOf(summaryView, () => () => {});
  return {
    ...stores,
    presence,
    summary,
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
      for (const store of [...Object.values(stores), summary]) store.changed();
      changed();
    },
  };
}
