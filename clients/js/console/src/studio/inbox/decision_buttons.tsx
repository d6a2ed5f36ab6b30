// The decisions about a call, as buttons.

import type { InboxItem } from '@smartspace/client';
import { useClient, useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { shownName } from '../../ui/visible.ts';
import { isSeen, senderFieldId, type Deciding } from './use_deciding.ts';

export interface DecisionButtonsProps {
  item: InboxItem;
  /** The address of the card. */
  card: string;
  deciding: Deciding;
}

/** For the operator the first button says in whose name it approves. */
export function DecisionButtons({ item, card, deciding }: DecisionButtonsProps): JSX.Element {
  const people = usePeople(item.spaceId);
  const { isOperator, senderOf, chooseSender, approve, write } = deciding;
  const senderId = isOperator ? senderOf(item.spaceId) : null;
  const sender = people.find(({ id }) => id === senderId);
  const fieldId = senderFieldId(item.callId);
  return (
    <div class="ask-row">
      {isOperator ? (
        <label for={fieldId}>
          as{' '}
          <select
            id={fieldId}
            value={sender?.id ?? ''}
            onChange={(event) => chooseSender(item.spaceId, event.currentTarget.value)}
          >
            {sender ? null : <option value="">Choose a person</option>}
            {people.map((person) => (
              <option key={person.id} value={person.id}>
                {shownName(person)}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {isSeen(item) ? (
        <>
          <button type="button" class="primary" aria-keyshortcuts="a" onClick={() => approve(item)}>
            {sender ? `Approve as ${shownName(sender)}` : 'Approve'}
          </button>
          <button type="button" aria-keyshortcuts="e" onClick={() => write(item, 'edit')}>
            Edit…
          </button>
        </>
      ) : null}
      <button type="button" aria-keyshortcuts="r" onClick={() => write(item, 'respond')}>
        Respond…
      </button>
      <button type="button" aria-keyshortcuts="x" onClick={() => write(item, 'decline')}>
        Decline…
      </button>
      <a class="button" href={card}>
        Open the card
      </a>
    </div>
  );
}

// The people of a space who may decide, as far as the list of spaces knows them.
function usePeople(spaceId: string) {
  useSpaces();
  const { members } = useClient().space(spaceId).members.getSnapshot();
  return members.filter(({ type, guest }) => type === 'human' && !guest);
}
