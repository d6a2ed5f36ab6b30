// The pinned messages of a space: a line below its head, which opens to a list.

import type { Message } from '@smartspace/client';
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
  const pins = space?.pins ?? [];
  return pins.length > 0 ? <Pins seqs={[...pins].reverse()} members={members} /> : null;
}

interface PinsProps {
  seqs: readonly number[];
  members: SpaceMembers;
}

// The line is there before its messages are loaded. If it came later, what is below would move
// under the pointer.
function Pins({ seqs, members }: PinsProps) {
  const { items } = usePins();
  const { pin } = useMessageCalls(members);
  const { space } = members;
  const messages = new Map(items.map(({ message }) => [message.seq, message]));
  const wordsOf = (seq: number) => {
    const message = messages.get(seq);
    return message ? <PinWords message={message} members={members} /> : `#${seq}`;
  };
  const mayUnpin = (message: Message | undefined): message is Message =>
    message !== undefined && rightsOf(message, members).mayPin;
  return (
    <details class="pins">
      <summary>
        <span aria-hidden="true">📌 </span>
        <span class="unseen">Pinned: </span>
        {wordsOf(seqs[0] ?? 0)}
        {seqs.length > 1 ? <span class="note">{` and ${seqs.length - 1} more`}</span> : null}
      </summary>
      <ul aria-label="Pinned messages">
        {seqs.map((seq) => {
          const message = messages.get(seq);
          return (
            <li key={seq}>
              <a href={hashOf(space.id, seq)}>{wordsOf(seq)}</a>
              {mayUnpin(message) ? (
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Unpin message ${seq}`}
                  onClick={() => pin(message, false)}
                >
                  Unpin
                </button>
              ) : null}
            </li>
          );
        })}
      </ul>
    </details>
  );
}

const PinWords = ({ message, members }: { message: Message; members: SpaceMembers }) => (
  <span dir="auto">
    <strong>{senderName(message.sender, members.nameOf)}</strong> {firstWordsOf(message)}
  </span>
);
