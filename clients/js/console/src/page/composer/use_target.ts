// The message that the composer replies to, or whose text it changes.

import { findMentions, type Message } from '@smartspace/client';
import { useMembers } from '@smartspace/react';
import { useLayoutEffect, type Dispatch } from 'preact/hooks';
import type { SpaceMembers } from '../../members/space_members.ts';
import { textOf } from '../../message/message_words.ts';
import { rightsOf } from '../../message/rights.ts';
import { useMessageCalls } from '../../message/use_message_calls.ts';

export interface Target {
  type: 'reply' | 'edit';
  message: Message;
}

export interface TargetOptions {
  target: Target | null;
  onTarget: Dispatch<Target | null>;
  members: SpaceMembers;
  box: { readonly current: HTMLTextAreaElement | null };
  /** Replaces the text, and sets the caret. */
  put: (text: string, caret: number) => void;
}

export interface TargetKeys {
  /** Begins to change the last own message. Returns whether there is one. */
  editLast: () => boolean;
  /** Saves an edit. Returns whether the text is one. An empty text is not saved. */
  save: (text: string) => boolean;
}

/** Puts the text of an edited message into the box, and the draft back when the edit ends. */
export function useTarget({ target, onTarget, members, box, put }: TargetOptions): TargetKeys {
  const { space } = members;
  const { edit } = useMessageCalls(members);
  // The text and the focus change together with the buttons: a key may follow at once.
  useLayoutEffect(() => {
    if (!target) return;
    if (target.type === 'edit') {
      const text = textOf(target.message);
      put(text, text.length);
    }
    box.current?.focus();
    return () => {
      if (target.type !== 'edit') return;
      const draft = space.getDraft();
      put(draft, draft.length);
    };
  }, [target]);
  return {
    editLast() {
      const message = lastOwn(members);
      if (message) onTarget({ type: 'edit', message });
      return message !== undefined;
    },
    save(text) {
      if (target?.type !== 'edit') return false;
      if (text === '') return true;
      if (text !== textOf(target.message)) edit(target.message, text);
      onTarget(null);
      return true;
    },
  };
}

function lastOwn(members: SpaceMembers): Message | undefined {
  const messages = members.space.timeline
    .getSnapshot()
    .items.flatMap((item) => (item.type === 'message' ? [item.message] : []));
  return messages.filter((message) => rightsOf(message, members).mayEdit).at(-1);
}

const NOBODY = 'An edit wakes nobody.';

/** What to know about an edit that adds a mention, or ''. */
export function useEditHint(target: Target | null, text: string): string {
  const { members } = useMembers();
  if (target?.type !== 'edit') return '';
  const before = new Set((target.message.mentions ?? []).map(keyOf));
  return findMentions(text, members).some((mention) => !before.has(keyOf(mention))) ? NOBODY : '';
}

const keyOf = ({ entityId }: { entityId?: string | null }): string => entityId ?? 'all';
