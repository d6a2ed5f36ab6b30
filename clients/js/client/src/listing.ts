// A list of all spaces that the client shows from its start: the inbox, or the mentions.

import type { Connection } from './connection/connection.ts';
import type { Environment } from './environment.ts';
import type { ServerFrame } from './frames.ts';
import type { Page } from './http.ts';
import { INBOX_DELAY_MS, INBOX_MS, INBOX_SETTLED_MS, PAGE } from './limits.ts';
import { lifetime } from './store.ts';
import { createTimers } from './timers.ts';

/** The first items of a list. */
export interface Listed<T> {
  items: readonly T[];
  hasMore: boolean;
  isLoading: boolean;
  error: Error | null;
}

/**
 * What the server lists. `ask` loads a page, the first one with an empty query. The list is read
 * while somebody retains it. `changed` is called after a change. `frameReceived` says whether a
 * frame tells of a new item.
 */
export function createListing<T>(
  env: Environment,
  connection: Connection,
  ask: (query: string) => Promise<Page<T>>,
  changed: () => void,
  frameReceived: (frame: ServerFrame) => boolean,
) {
  const timers = createTimers(env);
  let state: Listed<T> = { items: [], hasMore: false, isLoading: true, error: null };
  let wanted = PAGE;
  let isOpen = false;
  let begun = 0;

  const set = (more: Partial<Listed<T>>) => {
    state = { ...state, ...more };
    changed();
  };

  async function fetchItems() {
    const mine = (begun += 1);
    const found = await firstItems(ask, wanted);
    if (mine !== begun) return;
    set({ ...found, isLoading: false, error: null });
    reloadLater();
  }

  const load = () => {
    if (isOpen) timers.persist('load', fetchItems, (error, isLoading) => set({ error, isLoading }));
  };
  const reloadLater = (): void =>
    timers.after('load', INBOX_MS, () => (env.isHidden() ? reloadLater() : load()));

  const received = (frame: ServerFrame) => {
    // Later news does not put the load off.
    if (frameReceived(frame) && !timers.has('soon')) timers.after('soon', INBOX_DELAY_MS, load);
    // Events are lost until a space is followed. Many are followed one after the other.
    if (frame.type === 'subscribed') timers.after('settled', INBOX_SETTLED_MS, load);
  };

  return {
    state: () => state,
    set,
    load,
    more() {
      wanted = state.items.length + PAGE;
      load();
    },
    retain: lifetime(env, () => {
      isOpen = true;
      const stops = [connection.onLive(load), connection.onFrame(received)];
      load();
      return () => {
        isOpen = false;
        begun += 1;
        timers.stop();
        stops.forEach((stop) => stop());
      };
    }),
  };
}

async function firstItems<T>(ask: (query: string) => Promise<Page<T>>, wanted: number) {
  const items: T[] = [];
  let cursor: string | null = '';
  do {
    const query: string = cursor && `?cursor=${encodeURIComponent(cursor)}`;
    const page: Page<T> = await ask(query);
    items.push(...page.items);
    cursor = page.nextCursor;
    // A page may be empty although there is another one.
  } while (cursor && items.length < wanted);
  return { items, hasMore: !!cursor };
}
