// The pinned messages of a space: a line below its head, which opens to a list.

import type { Pin } from '@smartspace/client';
import { usePins, useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import type { SpaceMembers } from '../../members/space_members.ts';
import { firstWordsOf } from '../../message/message_words.ts';
import { rightsOf } from '../../message/rights.ts';
import { useMessageCalls } from '../../message/use_message_calls.ts';
import { hashOf } from '../../navigation/address.ts';
import { senderName } from '../../ui/visible.ts';

/** The line, or nothing if no message is pinned. */
export function PinsLine({ members }: { members: SpaceMembers }): JSX.Element | null {
  const { space } = useSpace();
  return space?.pins && space.pins.length > 0 ? <Pins members={members} /> : null;
}

function Pins({ members }: { members: SpaceMembers }) {
  const { items } = usePins();
  const { pin } = useMessageCalls(members);
  const [first] = items;
  if (!first) return null;
  return (
    <details class="pins">
      <summary>
        <span aria-hidden="true">📌 </span>
        <span class="unseen">Pinned: </span>
        <PinWords {...first} members={members} />
        {items.length > 1 ? <span class="note">{` and ${items.length - 1} more`}</span> : null}
      </summary>
      <ul aria-label="Pinned messages">
        {items.map(({ message }) => (
          <li key={message.id}>
            <a href={hashOf(message.spaceId, message.seq)}>
              <PinWords message={message} members={members} />
            </a>
            {rightsOf(message, members).mayPin ? (
              <button
                type="button"
                class="quiet"
                aria-label={`Unpin message ${message.seq}`}
                onClick={() => pin(message, false)}
              >
                Unpin
              </button>
            ) : null}
          </li>
        ))}
      </ul>
    </details>
  );
}

const PinWords = ({ message, members }: Pick<Pin, 'message'> & { members: SpaceMembers }) => (
  <span dir="auto">
    <strong>{senderName(message.sender, members.nameOf)}</strong> {firstWordsOf(message)}
  </span>
);
