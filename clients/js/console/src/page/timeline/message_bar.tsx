// The bar with the actions of a message, while the pointer or the focus is there.

import type { Message } from '@smartspace/client';
import { useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import type { SpaceMembers } from '../../members/space_members.ts';
import { openThread } from '../../navigation/address.ts';
import { useCommands } from '../../message/commands.ts';
import { actorOf, rightsOf } from '../../message/rights.ts';
import { useMessageCalls } from '../../message/use_message_calls.ts';
import { useActive } from './use_active.ts';

const THUMB = '👍';

export interface MessageBarProps {
  /** The node of the entry. */
  host: HTMLElement;
  message: Message;
  members: SpaceMembers;
}

export function MessageBar(props: MessageBarProps): JSX.Element | null {
  return useActive(props.host) ? <Bar {...props} /> : null;
}

function Bar({ message, members }: MessageBarProps) {
  const { space } = useSpace();
  const { react, pin } = useMessageCalls(members);
  const { reply, edit, askToDelete, chooseEmoji } = useCommands();
  const { mayAnswer, mayEdit, mayDelete, mayPin } = rightsOf(message, members);
  const actorId = actorOf(members);
  const isPinned = space?.pins?.includes(message.seq) ?? false;
  const own = message.reactions?.find(({ emoji }) => emoji === THUMB)?.entityIds ?? [];
  const hasThumb = actorId !== null && own.includes(actorId);
  const pinWords = isPinned ? 'Unpin' : 'Pin';
  return (
    <div class="message-bar" role="toolbar" aria-label={`Actions of message ${message.seq}`}>
      {mayAnswer ? (
        <>
          <BarButton
            label={`React with ${THUMB}`}
            face={THUMB}
            isPressed={hasThumb}
            onPress={() => react(message, THUMB, !hasThumb)}
          />
          <BarButton label="React" face="☺" shortcut="+" onPress={() => chooseEmoji(message)} />
          <BarButton label="Reply" shortcut="R" onPress={() => reply(message)} />
        </>
      ) : null}
      {message.deleted && !message.thread ? null : (
        <BarButton
          label="Thread"
          shortcut="T"
          onPress={() => openThread(message.thread ?? message.seq)}
        />
      )}
      {mayEdit ? <BarButton label="Edit" shortcut="E" onPress={() => edit(message)} /> : null}
      {mayPin ? (
        <BarButton label={pinWords} shortcut="P" onPress={() => pin(message, !isPinned)} />
      ) : null}
      {mayDelete ? (
        <BarButton label="Delete" shortcut="Delete" onPress={() => askToDelete(message)} />
      ) : null}
    </div>
  );
}

interface BarButtonProps {
  label: string;
  /** What shows instead of the label. */
  face?: string;
  /** The key that presses it on a focused message. */
  shortcut?: string;
  isPressed?: boolean;
  onPress: () => void;
}

const BarButton = ({ label, face, shortcut, isPressed, onPress }: BarButtonProps) => (
  <button
    type="button"
    class="quiet"
    data-shortcut={shortcut}
    title={shortcut ? `${label} (${shortcut})` : label}
    aria-label={face ? label : undefined}
    aria-pressed={isPressed}
    onClick={onPress}
  >
    {face ?? label}
  </button>
);
