// The store of the mentions: the messages of all spaces that mention the caller or reply to it.

import type { Connection } from './connection/connection.ts';
import type { Environment } from './environment.ts';
import type { ServerFrame } from './frames.ts';
import type { Call, Page } from './http.ts';
import { createListing } from './listing.ts';
import { newest } from './space/message_states.ts';
import { createStore, same } from './store.ts';
import type { Caller, MentionItem, Mentions, MentionsState, Message } from './types.ts';

/** What the mentions need of the client. */
interface MentionsContext {
  env: Environment;
  call: Call;
  connection: Connection;
  /** Asks once who the caller is. */
  me(): Promise<Caller>;
  /** How far the caller has read a space, if that is known. */
  readSeqOf(spaceId: string): number | undefined;
}

/** The mentions, for the rest of the client. */
export interface OwnMentions extends Mentions {
  /** The caller may have read more. */
  changed(): void;
}

export function createMentions(context: MentionsContext): OwnMentions {
  const { env, call, connection, me, readSeqOf } = context;
  const changed = () => store.changed();
  // Nobody mentions the operator.
  const ask = async (query: string): Promise<Page<MentionItem>> =>
    (await me()).entity ? call('GET', `/v1/mentions${query}`) : { items: [], nextCursor: null };
  const listing = createListing<MentionItem>(env, connection, ask, changed, frameReceived);
  const { state, set, more, retain } = listing;

  function frameReceived(frame: ServerFrame) {
    if (frame.type === 'message.updated') set({ items: withMessage(state().items, frame.message) });
    return frame.type === 'mention';
  }

  const isUnread = ({ spaceId, message }: MentionItem) =>
    message.seq > (readSeqOf(spaceId) ?? Infinity);

  const store = createStore<MentionsState>((before) => {
    const items = same(before?.items as MentionItem[], [...state().items]);
    return { ...state(), items, unread: items.filter(isUnread).length };
  }, retain);

  return { ...store, more };
}

// The items with a newer state of a message. A deleted one mentions nobody.
const withMessage = (items: readonly MentionItem[], message: Message) =>
  items.flatMap((item) => {
    if (item.message.id !== message.id) return item;
    return message.deleted ? [] : { ...item, message: newest(item.message, message) };
  });
