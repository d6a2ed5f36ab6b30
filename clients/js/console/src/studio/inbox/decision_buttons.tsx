// The decisions about a call, as buttons.

import type { InboxItem } from '@smartspace/client';
import type { JSX } from 'preact';
import { SenderChoice, useChosenDecider } from '../../members/sender_choice.tsx';
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
  const { isOperator, approve, write } = deciding;
  const decider = useChosenDecider(item.spaceId);
  const sender = isOperator ? decider : undefined;
  return (
    <div class="ask-row">
      {isOperator ? <SenderChoice spaceId={item.spaceId} id={senderFieldId(item.callId)} /> : null}
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
