// The store of the list of spaces: loads the list, and watches the spaces that it shows first.

import type { Connection } from './connection/connection.ts';
import type { Environment } from './environment.ts';
import type { SpaceActivity } from './frames.ts';
import { pageOf, type Call, type Page } from './http.ts';
import { LARGEST_PAGE, MOST_WATCHED, RELOAD_MS } from './limits.ts';
import type { OwnSpace } from './space/space.ts';
import { createStore, lifetime, same } from './store.ts';
import { createTimers } from './timers.ts';
import type { Caller, SpaceInfo, SpacesState, SpaceSummary, Store } from './types.ts';

/** The list of spaces of a client. */
export interface Spaces {
  list: Store<SpacesState>;
  /** Loads the list again. */
  reload(): Promise<void>;
  /** A listed space has changed. */
  changed(): void;
}

/** What the list of spaces needs of the client. */
interface SpacesContext {
  env: Environment;
  call: Call;
  connection: Connection;
  /** Asks once who the caller is. */
  me(): Promise<Caller>;
  spaceOf(id: string): OwnSpace;
}

/** The spaces of the last answer, and the state of the list beside them. */
type Listed = Omit<SpacesState, 'spaces'> & { infos: readonly SpaceInfo[] };

export function createSpaces({ env, call, connection, me, spaceOf }: SpacesContext): Spaces {
  const timers = createTimers(env);
  const watchOnly = createWatched(spaceOf);
  let state: Listed = { infos: [], isLoading: true, error: null };
  let isOpen = false;
  // The numbers of the newest load, and of the newest one that has succeeded.
  let begun = 0;
  let loaded = 0;

  const retain = lifetime(env, () => {
    isOpen = true;
    const stops = listenForNews(connection, load, showActivity);
    load();
    return () => {
      isOpen = false;
      timers.stop();
      watchOnly([]);
      stops.forEach((stop) => stop());
    };
  });
  const list = createStore<SpacesState>((before) => listView(state, spaceOf, before), retain);

  const load = () =>
    timers.persist('load', reload, (error, isLoading) => {
      state = { ...state, isLoading, error };
      list.changed();
    });

  async function reload() {
    const mine = (begun += 1);
    const answer = await Promise.all([me(), allSpaces(call)]).catch((error) => {
      if (mine > loaded) throw error;
    });
    // A later load has succeeded meanwhile.
    if (!answer || mine < loaded) return;
    loaded = mine;
    const [caller, infos] = answer;
    state = { infos, isLoading: false, error: null };
    for (const info of infos) spaceOf(info.id).applyListing(info);
    list.changed();
    if (!isOpen) return;
    watchOnly(mostWanted(list.getSnapshot().spaces));
    if (missesEvents(caller, infos)) reloadLater();
  }

  // A space with news is among the first ones, so the list follows it from now on.
  function showActivity(frame: SpaceActivity) {
    if (!state.infos.some(({ id }) => id === frame.spaceId)) return load();
    spaceOf(frame.spaceId).applyActivity(frame);
    watchOnly(mostWanted(list.getSnapshot().spaces));
  }

  const reloadLater = (): void =>
    timers.after('load', RELOAD_MS, () => (env.isHidden() ? reloadLater() : load()));

  return { list, reload, changed: list.changed };
}

// Whether the list may change without an event: the operator gets none of new spaces, and nobody of
// spaces that are not followed.
const missesEvents = (caller: Caller, infos: readonly SpaceInfo[]) =>
  caller.kind === 'operator' || infos.length > MOST_WATCHED;

// Calls `load` when the list may have changed. The results end that.
const listenForNews = (
  connection: Connection,
  load: () => void,
  showActivity: (frame: SpaceActivity) => void,
) => [
  connection.onFrame((frame) => {
    if (frame.type === 'space.activity') showActivity(frame);
    else if (frame.type === 'space.joined' || frame.type === 'space.left') load();
  }),
  // Events are lost while nobody is connected.
  connection.onLive(load),
];

// The spaces that the list follows, so that it shows their last messages and runs.
function createWatched(spaceOf: (id: string) => OwnSpace) {
  const watched = new Map<string, () => void>();
  return (ids: readonly string[]) => {
    for (const [id, stop] of watched) if (!ids.includes(id) && watched.delete(id)) stop();
    for (const id of ids) if (!watched.has(id)) watched.set(id, spaceOf(id).watch());
  };
}

// Those with unread messages first, then the latest ones.
const mostWanted = (spaces: readonly SpaceSummary[]) =>
  [...spaces]
    .sort((one, other) => Number(other.unread > 0) - Number(one.unread > 0))
    .slice(0, MOST_WATCHED)
    .map((each) => each.id);

async function allSpaces(call: Call): Promise<SpaceInfo[]> {
  const found: SpaceInfo[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Page<SpaceInfo> = await pageOf(call, '/v1/spaces', LARGEST_PAGE, cursor);
    found.push(...page.items);
    cursor = page.nextCursor;
  }
  return found;
}

function listView(state: Listed, spaceOf: (id: string) => OwnSpace, before?: SpacesState) {
  const { infos, ...rest } = state;
  const summaryOf = ({ id }: SpaceInfo) => spaceOf(id).summary();
  const newestAt = (info: SpaceInfo) => {
    const last = summaryOf(info).lastMessage;
    return Date.parse(!last ? info.createdAt : 'at' in last ? last.at : last.createdAt);
  };
  const spaces = infos
    .filter((each) => !spaceOf(each.id).getSnapshot().isGone)
    .sort((one, other) => newestAt(other) - newestAt(one))
    .map(summaryOf);
  return { spaces: same(before?.spaces as typeof spaces, spaces), ...rest };
}
