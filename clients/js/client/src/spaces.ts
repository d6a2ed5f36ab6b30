// The list of spaces, and the open forms in them.

import type { Connection } from './connection.ts';
import type { Environment } from './environment.ts';
import type { Call } from './http.ts';
import type { OwnSpace } from './space.ts';
import { createStore, lifetime, same } from './store.ts';
import { createTimers } from './timers.ts';
import type {
  Caller,
  Form,
  FormsState,
  SpaceInfo,
  SpacesState,
  SpaceSummary,
  Store,
} from './types.ts';

const LARGEST_PAGE = 200;
const MOST_WATCHED = 20;
const RELOAD_MS = 30_000;

export interface Spaces {
  list: Store<SpacesState>;
  /** The open forms that the caller may answer. */
  forms: Store<FormsState>;
  /** Loads the list again. */
  reload(): Promise<void>;
  /** A listed space has changed. */
  changed(): void;
  findForm(callId: string): Form | undefined;
}

export function createSpaces(
  env: Environment,
  call: Call,
  connection: Connection,
  me: () => Promise<Caller>,
  spaceOf: (id: string) => OwnSpace,
): Spaces {
  const timers = createTimers(env);
  let listed: SpaceInfo[] = [];
  const watched = new Map<string, () => void>();
  let state: Omit<SpacesState, 'spaces'> = { isLoading: true, error: null };
  let isOpen = false;
  let loads = 0;

  const retain = lifetime(env, () => {
    isOpen = true;
    const releaseConnection = connection.retain();
    const stopHearing = connection.onFrame(({ type }) => {
      if (type === 'space.joined' || type === 'space.left') load();
    });
    let isLive = false;
    const stopWatching = connection.store.subscribe(() => {
      const wasLive = isLive;
      isLive = connection.store.getSnapshot().state === 'live';
      // Events are lost while nobody is connected.
      if (isLive && !wasLive) load();
    });
    load();
    return () => {
      isOpen = false;
      timers.stop();
      watch([]);
      stopHearing();
      stopWatching();
      releaseConnection();
    };
  });

  const list = createStore<SpacesState>((before) => {
    const spaces = listed
      .map(({ id }) => spaceOf(id))
      .filter((space) => !space.getSnapshot().isGone)
      .map((space) => space.summary());
    const createdAt = new Map(listed.map((info) => [info.id, info.createdAt]));
    const timeOf = ({ lastMessage, id }: SpaceSummary) =>
      Date.parse(lastMessage?.createdAt ?? createdAt.get(id) ?? '');
    spaces.sort((one, other) => timeOf(other) - timeOf(one));
    return same(before, { spaces: same(before?.spaces as SpaceSummary[], spaces), ...state });
  }, retain);
  const forms = createStore<FormsState>((before) => {
    const open = listed.flatMap(({ id }) =>
      spaceOf(id)
        .forms.getSnapshot()
        .forms.filter(({ mayAnswer }) => mayAnswer),
    );
    return same(before, { forms: same(before?.forms as Form[], open) });
  }, retain);

  function changed() {
    list.changed();
    forms.changed();
  }

  function load() {
    timers.persist('load', reload, (error, isLoading) => {
      state = { isLoading, error };
      changed();
    });
  }

  async function reload() {
    const mine = (loads += 1);
    const { kind } = await me();
    const found: SpaceInfo[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { items: SpaceInfo[]; nextCursor: string | null } = await call(
        'GET',
        `/v1/spaces?limit=${LARGEST_PAGE}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      found.push(...page.items);
      cursor = page.nextCursor;
    }
    // A later answer counts.
    if (mine !== loads) return;
    listed = found;
    for (const info of found) spaceOf(info.id).seed(info);
    state = { isLoading: false, error: null };
    changed();
    if (!isOpen) return;
    // Those with unread messages first, then the latest ones.
    const ranked = [...list.getSnapshot().spaces].sort(
      (one, other) => Number(other.unread > 0) - Number(one.unread > 0),
    );
    watch(ranked.slice(0, MOST_WATCHED).map(({ id }) => id));
    // Nobody tells the operator of new spaces, and a client of those that it does not follow.
    if (kind === 'operator' || found.length > MOST_WATCHED) reloadLater();
  }

  function reloadLater() {
    timers.after('load', RELOAD_MS, () => (env.isHidden() ? reloadLater() : load()));
  }

  function watch(ids: string[]) {
    for (const [id, stop] of watched)
      if (!ids.includes(id)) {
        watched.delete(id);
        stop();
      }
    for (const id of ids) if (!watched.has(id)) watched.set(id, spaceOf(id).watch());
  }

  return {
    list,
    forms,
    reload,
    changed,
    findForm: (callId) => forms.getSnapshot().forms.find((form) => form.callId === callId),
  };
}
