// The bar with the actions of a message. What is asked for less often is behind its last button.

import type { Message } from '@smartspace/client';
import { useClient, useRuns, useSpace } from '@smartspace/react';
import type { ComponentChildren, JSX, TargetedKeyboardEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { SpaceMembers } from '../members/space_members.ts';
import { useCommands } from '../message/commands.ts';
import { textOf } from '../message/message_words.ts';
import { actorOf, rightsOf } from '../message/rights.ts';
import type { MessageCalls } from '../message/use_message_calls.ts';
import { hashOf, openThread, openWhy } from '../navigation/address.ts';
import { CopyButton } from '../ui/copy_button.tsx';
import { useNotify, wordsOf } from '../ui/notices.tsx';
import { deletableFiles, DeleteFile } from './delete_file.tsx';
import { RetryButton } from './retry_button.tsx';

const THUMB = '👍';

export interface MessageBarProps {
  message: Message;
  members: SpaceMembers;
  calls: MessageCalls;
}

export function MessageBar({ message, members, calls }: MessageBarProps): JSX.Element {
  const { reply } = useCommands();
  const { runId, seq } = message;
  const text = message.deleted ? '' : textOf(message);
  return (
    <div class="message-bar" role="toolbar" aria-label={`Actions of message ${seq}`}>
      {runId ? <BarButton label="Why?" shortcut="W" onPress={() => openWhy(runId)} /> : null}
      {rightsOf(message, members).mayAnswer ? (
        <>
          <BarButton label="Reply" shortcut="R" onPress={() => reply(message)} />
          <ReactButtons {...{ message, members, calls }} />
        </>
      ) : null}
      {text ? <CopyButton name="Copy" text={text} /> : null}
      {message.deleted ? (
        <ThreadButton message={message} />
      ) : (
        <>
          <CopyButton name="Link" text={addressOf(message)} />
          <More>
            <MoreActions {...{ message, members, calls }} />
          </More>
        </>
      )}
    </div>
  );
}

const addressOf = ({ spaceId, seq }: Message) =>
  `${location.origin}${location.pathname}${hashOf(spaceId, seq)}`;

function ReactButtons({ message, members, calls: { react } }: MessageBarProps) {
  const { chooseEmoji } = useCommands();
  const actorId = actorOf(members);
  const own = message.reactions?.find(({ emoji }) => emoji === THUMB)?.entityIds ?? [];
  const hasThumb = actorId !== null && own.includes(actorId);
  return (
    <>
      <BarButton label="React" face="☺" shortcut="+" onPress={() => chooseEmoji(message)} />
      <BarButton
        label={`React with ${THUMB}`}
        face={THUMB}
        isPressed={hasThumb}
        onPress={() => react(message, THUMB, !hasThumb)}
      />
    </>
  );
}

const ThreadButton = ({ message: { thread, seq } }: Pick<MessageBarProps, 'message'>) => (
  <BarButton label="Thread" shortcut="T" onPress={() => openThread(thread ?? seq)} />
);

// The buttons are there while they are hidden, for the keys that press them.
function More({ children }: { children: ComponentChildren }) {
  const [isOpen, setIsOpen] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  const close = ({ currentTarget }: { currentTarget: HTMLElement }) => {
    // The button that was pressed hides, and would lose the focus.
    if (currentTarget.contains(document.activeElement)) toggle.current?.focus();
    setIsOpen(false);
  };
  const pressed = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.key !== 'Escape' || !isOpen) return;
    event.stopPropagation();
    close(event);
  };
  return (
    <>
      <button
        ref={toggle}
        type="button"
        class="quiet"
        aria-label="More"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        onKeyDown={pressed}
      >
        ⋯
      </button>
      <div
        class="more-actions"
        role="group"
        aria-label="More actions"
        hidden={!isOpen}
        onClick={close}
        onKeyDown={pressed}
      >
        {children}
      </div>
    </>
  );
}

function MoreActions({ message, members, calls: { pin } }: MessageBarProps) {
  const { space } = useSpace();
  const { edit, askToDelete } = useCommands();
  const { mayEdit, mayDelete, mayPin } = rightsOf(message, members);
  const isPinned = space?.pins?.includes(message.seq) ?? false;
  const pinWords = isPinned ? 'Unpin' : 'Pin';
  const { runId, spaceId } = message;
  const isPartial = message.parts.some((part) => 'partial' in part && part.partial);
  return (
    <>
      <ThreadButton message={message} />
      {mayEdit ? <BarButton label="Edit" shortcut="E" onPress={() => edit(message)} /> : null}
      {mayPin ? (
        <BarButton label={pinWords} shortcut="P" onPress={() => pin(message, !isPinned)} />
      ) : null}
      {runId && isPartial && !members.isGuest ? <RetryOfStopped runId={runId} /> : null}
      {members.isGuest ? null : <StopChain message={message} />}
      {deletableFiles(message, members).map((file) => (
        <DeleteFile key={file.attachmentId} {...{ spaceId, file }} />
      ))}
      {mayDelete ? (
        <BarButton label="Delete" shortcut="Delete" onPress={() => askToDelete(message)} />
      ) : null}
    </>
  );
}

// A text is also partial if its run reached the limit of tokens, and such a run is not repeated.
function RetryOfStopped({ runId }: { runId: string }) {
  const { outcomes } = useRuns();
  const isStopped = Object.values(outcomes)
    .flat()
    .some((outcome) => outcome.runId === runId && outcome.state === 'stopped');
  return isStopped ? <RetryButton runId={runId} /> : null;
}

// Ends the runs that this message has set off, also indirectly. It wakes nobody from then on.
function StopChain({ message }: Pick<MessageBarProps, 'message'>) {
  const client = useClient();
  const notify = useNotify();
  const [isStopped, setIsStopped] = useState(false);
  const { runId, dispatch, spaceId, seq } = message;
  if (!runId && !dispatch?.some((each) => each.runId)) return null;
  const stop = () => {
    setIsStopped(true);
    client.stopChain(spaceId, seq).catch((error) => {
      setIsStopped(false);
      notify(wordsOf(error));
    });
  };
  return (
    <button type="button" class="quiet" disabled={isStopped} onClick={stop}>
      {isStopped ? 'Chain stopped' : 'Stop chain'}
    </button>
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
