// What waits for the caller in all spaces, what mentions it, and one call that people decide.

import type {
  Form,
  FormsState,
  Inbox,
  InboxItem,
  InboxState,
  MentionsState,
  Space,
} from '@smartspace/client';
import { useMemo } from 'react';
import { useClientFor, useSpaceId } from './context.ts';
import { LOADING, NONE, useStore } from './store.ts';

const NO_CARDS: InboxState = { items: NONE, hasMore: false, ...LOADING };
const NO_MENTIONS: MentionsState = { ...NO_CARDS, items: NONE, unread: 0 };
const NO_FORMS: FormsState = { forms: NONE };
const NO_SPACE = { subscribe: () => () => {}, getSnapshot: () => NO_FORMS };

/** What waits for the caller, and the function that shows more of it. */
export interface InboxCards extends InboxState {
  /** Shows 50 cards more. It stays the same function. */
  more: Inbox['more'];
}

/**
 * Returns what waits for the caller in all of its spaces, soonest expiry first: forms to answer and
 * calls to decide. It changes when a card comes or goes.
 */
export function useInbox(): InboxCards {
  const { inbox } = useClientFor('useInbox');
  const state = useStore(inbox, NO_CARDS);
  return useMemo(() => ({ ...state, more: inbox.more }), [state, inbox]);
}

/** The messages that mention the caller, and the function that shows more of them. */
export interface MentionList extends MentionsState {
  /** Shows 50 mentions more. It stays the same function. */
  more: Inbox['more'];
}

/**
 * Returns the messages that mention the caller or reply to it, in all of its spaces, newest first,
 * and how many are unread. It changes when one comes or changes, and when the caller reads.
 */
export function useMentions(): MentionList {
  const mentions = useClientFor('useMentions').mentions();
  const state = useStore(mentions, NO_MENTIONS);
  return useMemo(() => ({ ...state, more: mentions.more }), [state, mentions]);
}

/** A call that people decide. */
export interface ApprovalState {
  /** What the inbox has of it; null if it does not wait for the caller. */
  item: InboxItem | null;
  /** Its card; null if it does not wait, or until it is loaded. `approval` has the decisions. */
  card: Form | null;
  /** Decides it. It rejects as long as the call is in no known space. */
  decide: (
    ...given: Parameters<Space['decide']> extends [string, ...infer More] ? More : never
  ) => ReturnType<Space['decide']>;
}

/**
 * Returns a call that waits for people, and the function that decides it. The call is in the space
 * of the nearest `SpaceProvider`, or else in the one that the inbox names, which is then followed.
 * It changes when somebody decides it.
 */
export function useApproval(callId: string): ApprovalState {
  const client = useClientFor('useApproval');
  const inside = useSpaceId();
  const { items } = useStore(client.inbox, NO_CARDS);
  const item = items.find((each) => each.callId === callId) ?? null;
  const spaceId = item?.spaceId ?? inside;
  const space = spaceId === null ? null : client.space(spaceId);
  const { forms } = useStore(space?.forms ?? NO_SPACE, NO_FORMS);
  const card = forms.find((form) => form.callId === callId) ?? null;
  return useMemo(() => {
    const decide: ApprovalState['decide'] = async (...given) => {
      if (!space) throw new Error(`The call ${callId} does not wait.`);
      return space.decide(callId, ...given);
    };
    return { item, card, decide };
  }, [item, card, space, callId]);
}
