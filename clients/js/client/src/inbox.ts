// The store of the inbox: the cards that wait for the caller, in all of its spaces.

import type { Connection } from './connection/connection.ts';
import type { Environment } from './environment.ts';
import type { ServerFrame } from './frames.ts';
import type { Call } from './http.ts';
import { createListing } from './listing.ts';
import { createStore, same } from './store.ts';
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
  const ask = (query: string) => call('GET', `/v1/inbox${query}`);
  const listing = createListing<InboxItem>(env, connection, ask, changed, frameReceived);
  const { state, load, more, retain } = listing;

  function frameReceived(frame: ServerFrame) {
    const cards = cardsOf(frame);
    const ended = cards.filter(([, isOpen]) => !isOpen);
    ended.forEach(([callId]) => closed.add(callId));
    if (ended.length > 0) changed();
    return ended.length < cards.length;
  }

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

// The calls of a frame, and whether their cards wait.
function cardsOf(frame: ServerFrame): [callId: string, isOpen: boolean][] {
  if (frame.type === 'tool.requested') return [[frame.callId, true]];
  if (frame.type === 'tool.resolved') return [[frame.callId, false]];
  if (frame.type === 'inbox') return [[frame.callId, frame.state === 'open']];
  // A frame of a card may be lost, or only say that a call is approved, which has no result yet.
  const parts = 'message' in frame ? frame.message.parts : [];
  return parts.flatMap((part) => (part.type === 'tool' ? [[part.callId, isOpen(part)]] : []));
}

const isOpen = ({ status, ui, approval }: ToolPart) =>
  status === 'pending' && ui !== null && (!approval || approval.state === 'open');
