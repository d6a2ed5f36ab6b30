// The line above a reply: the message that it answers.

import type { Message } from '@smartspace/client';
import type { JSX } from 'preact';
import type { SpaceMembers } from '../members/space_members.ts';
import { hashOf } from '../navigation/address.ts';
import { senderName } from '../ui/visible.ts';
import { excerptOf, firstWordsOf } from './message_words.ts';

export interface ParentLineProps {
  message: Message;
  members: SpaceMembers;
}

/** One line, which jumps to the parent. Nothing if the message is no reply. */
export function ParentLine({ message, members }: ParentLineProps): JSX.Element | null {
  const { replyTo, parent, spaceId } = message;
  if (!replyTo) return null;
  const words = !parent ? '' : parent.deleted ? 'a deleted message' : excerptOf(parent.text);
  const name = parent?.sender
    ? senderName(parent.sender, members.nameOf)
    : replyTo.senderId && members.nameOf(replyTo.senderId);
  return (
    <p class="parent">
      <a href={hashOf(spaceId, replyTo.seq)} dir="auto">
        <span class="unseen">Replies to </span>
        <span aria-hidden="true">↩ </span>
        {name ? <strong>{name}</strong> : null} {words === '' ? `#${replyTo.seq}` : words}
      </a>
    </p>
  );
}

interface TriggerLineProps {
  trigger: Message;
  nameOf: SpaceMembers['nameOf'];
}

/** The message that an answer is about, if it does not stand right above. */
export const TriggerLine = ({ trigger, nameOf }: TriggerLineProps): JSX.Element => (
  <p class="parent">
    <a href={hashOf(trigger.spaceId, trigger.seq)} dir="auto">
      <span class="unseen">Answers </span>
      <span aria-hidden="true">↳ </span>
      {senderName(trigger.sender, nameOf)}: {firstWordsOf(trigger)}
    </a>
  </p>
);
