// What the reader may do with a message. The server decides; this only hides what it would refuse.

import type { Message } from '@smartspace/client';
import type { SpaceMembers } from '../members/space_members.ts';

export interface MessageRights {
  /** Reply to it, react to it. */
  mayAnswer: boolean;
  mayEdit: boolean;
  mayDelete: boolean;
  mayPin: boolean;
}

type Reader = Pick<SpaceMembers, 'isOperator' | 'meId' | 'senderId' | 'people'>;

export function rightsOf(message: Message, reader: Reader): MessageRights {
  const { isOperator, meId, people } = reader;
  if (message.deleted) return { mayAnswer: false, mayEdit: false, mayDelete: false, mayPin: false };
  const me = people.find(({ id }) => id === meId);
  const actor = actorOf(reader);
  const isOwn = message.sender.id === actor;
  const isCard = message.parts.some(({ type }) => type === 'tool');
  return {
    mayAnswer: actor !== null,
    mayEdit: isOwn && !isCard,
    mayDelete: isOperator || isOwn || me?.role === 'owner',
    mayPin: isOperator || (me !== undefined && !me.guest),
  };
}

/** Who replies, reacts and edits: the caller, or the person in whose name the operator writes. */
export const actorOf = ({ isOperator, meId, senderId }: Reader): string | null =>
  isOperator ? senderId : meId;

/** The sender that a call of the operator names. */
export const asSender = ({ senderId }: Reader): { senderId?: string } =>
  senderId === null ? {} : { senderId };
