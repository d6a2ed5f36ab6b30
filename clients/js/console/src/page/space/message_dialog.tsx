// The dialogs of a message, once their script is loaded.

import type { Message } from '@smartspace/client';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { SpaceMembers } from '../../members/space_members.ts';
import { useNotify } from '../../ui/notices.tsx';
import { actorOf } from '../../message/rights.ts';
import { useMessageCalls } from '../../message/use_message_calls.ts';
import { FAILED, useStudio } from '../scripts.ts';

/** What a person is asked about a message. */
export interface Asked {
  type: 'delete' | 'emoji';
  message: Message;
}

export interface MessageDialogProps {
  asked: Asked;
  members: SpaceMembers;
  onClose: () => void;
}

export function MessageDialog({ asked, members, onClose }: MessageDialogProps): JSX.Element | null {
  const { type, message } = asked;
  const { script: studio, hasFailed } = useStudio();
  const { react, remove } = useMessageCalls(members);
  const notify = useNotify();
  useEffect(() => {
    if (!hasFailed) return;
    notify(FAILED);
    onClose();
  }, [hasFailed]);
  useEffect(() => () => void setTimeout(() => focusEntry(message)), [message]);
  if (!studio) return null;
  if (type === 'delete')
    return <studio.DeleteMessage onDelete={() => remove(message)} onClose={onClose} />;
  const actorId = actorOf(members);
  const choose = (emoji: string) => {
    const given = message.reactions?.find((each) => each.emoji === emoji)?.entityIds ?? [];
    react(message, emoji, actorId === null || !given.includes(actorId));
  };
  return <studio.EmojiChoice onChoose={choose} onClose={onClose} />;
}

// The bar with the button that opened the dialog may be gone.
function focusEntry({ seq }: Message) {
  if (document.activeElement === document.body)
    document.querySelector<HTMLElement>(`.entry[data-seq="${seq}"]`)?.focus();
}
