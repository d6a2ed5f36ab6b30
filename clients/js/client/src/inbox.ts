// The store of the inbox: the cards that wait for the caller, in all of its spaces.

import type { Connection } from './connection/connection.ts';
import type { Environment } from './environment.ts';
import type { ServerFrame } from './frames.ts';
import type { Call, Page } from './http.ts';
import { INBOX_DELAY_MS, INBOX_MS, INBOX_SETTLED_MS, PAGE } from './limits.ts';
import { createStore, lifetime, same } from './store.ts';
import { createTimers } from './timers.ts';
import type { Inbox, InboxItem, InboxState, ToolPart } from './types.ts';

/** The inbox, for the rest of the client. */
export interface OwnInbox extends Inbox {
  /** The card of a call, if it was listed. */
  find(callId: string): InboxItem | undefined;
  /**
   * Hides a card while `act` closes it. It comes back if that fails, or if `stillWaits` says so of
   * the answer.
   */
  settling<T>(
    callId: string,
    act: () => Promise<T>,
    stillWaits: (answer: T) => boolean,
  ): Promise<T>;
}

export function createInbox(env: Environment, call: Call, connection: Connection): OwnInbox {
  // The calls whose cards are closed, or that this client closes right now. None opens again.
  const closed = new Set<string>();
  const changed = () => store.changed();
  const { state, load, loadSoon, loadSettled, more, start } = createListing(env, call, changed);

  function frameReceived(frame: ServerFrame) {
    const { opened, ended } = cardsOf(frame);
    if (frame.type === 'subscribed') loadSettled();
    if (opened) loadSoon();
    ended.forEach((callId) => closed.add(callId));
    if (ended.length > 0) changed();
  }

  const retain = lifetime(env, () => {
    const stops = [connection.onFrame(frameReceived), connection.onLive(load), start()];
    return () => stops.forEach((stop) => stop());
  });

  const store = createStore<InboxState>((before) => {
    const items = state().items.filter(({ callId }) => !closed.has(callId));
    return { ...state(), items: same(before?.items as InboxItem[], items) };
  }, retain);

  return {
    ...store,
    more,
    find: (callId) => state().items.find((item) => item.callId === callId),
    async settling(callId, act, stillWaits) {
      const reopen = () => closed.delete(callId);
      closed.add(callId);
      changed();
      try {
        const answer = await act();
        if (stillWaits(answer)) reopen();
        return answer;
      } catch (error) {
        reopen();
        throw error;
      } finally {
        changed();
        load();
      }
    },
  };
}

// What the server lists. It is read between `start` and the call of its result.
function createListing(env: Environment, call: Call, changed: () => void) {
  const timers = createTimers(env);
  let state: InboxState = { items: [], hasMore: false, isLoading: true, error: null };
  let wanted = PAGE;
  let isOpen = false;
  let begun = 0;

  const set = (more: Partial<InboxState>) => {
    state = { ...state, ...more };
    changed();
  };

  async function fetchItems() {
    const mine = (begun += 1);
    const items: InboxItem[] = [];
    let cursor: string | null = '';
    do {
      const query: string = cursor && `?cursor=${encodeURIComponent(cursor)}`;
      const page: Page<InboxItem> = await call('GET', `/v1/inbox${query}`);
      items.push(...page.items);
      cursor = page.nextCursor;
      // A page may be empty although there is another one.
    } while (cursor && items.length < wanted);
    if (mine !== begun) return;
    set({ items, hasMore: !!cursor, isLoading: false, error: null });
    reloadLater();
  }

  const load = () => {
    if (isOpen) timers.persist('load', fetchItems, (error, isLoading) => set({ error, isLoading }));
  };
  const reloadLater = (): void =>
    timers.after('load', INBOX_MS, () => (env.isHidden() ? reloadLater() : load()));

  return {
    state: () => state,
    load,
    // Later news does not put the load off.
    loadSoon() {
      if (!timers.has('soon')) timers.after('soon', INBOX_DELAY_MS, load);
    },
    // Events are lost until a space is followed. Many are followed one after the other.
    loadSettled: () => timers.after('settled', INBOX_SETTLED_MS, load),
    more() {
      wanted = state.items.length + PAGE;
      load();
    },
    start() {
      isOpen = true;
      load();
      return () => {
        isOpen = false;
        begun += 1;
        timers.stop();
      };
    },
  };
}

// Whether a frame says that a card opens or has another input, and the calls that wait no longer.
function cardsOf(frame: ServerFrame): { opened: boolean; ended: string[] } {
  if (frame.type === 'tool.requested') return { opened: true, ended: [] };
  if (frame.type === 'tool.resolved') return { opened: false, ended: [frame.callId] };
  if (frame.type === 'inbox') {
    const opened = frame.state === 'open';
    return { opened, ended: opened ? [] : [frame.callId] };
  }
  if (!('message' in frame)) return { opened: false, ended: [] };
  // A frame of a card may be lost, or only say that a call is approved, which has no result yet.
  const cards = frame.message.parts.flatMap((part) => (part.type === 'tool' ? part : []));
  const isOpen = ({ status, ui, approval }: ToolPart) =>
    status === 'pending' && ui !== null && (!approval || approval.state === 'open');
  return {
    opened: cards.some(isOpen),
    ended: cards.filter((part) => !isOpen(part)).map(({ callId }) => callId),
  };
}
