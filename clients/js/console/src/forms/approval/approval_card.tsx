// A call that people decide, as a card: the call, the people and their approvals, and the buttons.

import type { Decision, Member, Message, Space } from '@smartspace/client';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useChosenSender } from '../../members/chosen_sender.ts';
import { SenderSelect } from '../../members/sender_select.tsx';
import { isolated, visible } from '../../ui/visible.ts';
import { Details, Value } from '../card/details.tsx';
import type { NameOf } from '../card/terms.ts';
import { useNewId } from '../fields/controls.ts';
import {
  approvalsIn,
  byText,
  decidersOf,
  givenText,
  outcomeText,
  termsText,
  type ApprovalPart,
} from './approval_words.ts';
import { LazyDecision } from './lazy_decision.tsx';

export interface ApprovalCardProps {
  part: ApprovalPart;
  message: Message | null;
  space: Space;
  people: readonly Member[];
  isOperator: boolean;
  /** The caller; null: the operator. */
  meId: string | null;
  nameOf: NameOf;
  /** The present time in milliseconds since 1970, for the time that is left. */
  now: number;
  /** The host that the call reaches; null if it is not known. */
  host: string | null;
}

/** Shows a call that waits for people, or did. */
export function ApprovalCard(props: ApprovalCardProps): JSX.Element {
  const { part, message, nameOf, now, host } = props;
  const { approval, expiresAt } = part;
  const titleId = useNewId();
  const isOpen = approval.state === 'open' && part.status === 'pending' && Boolean(message?.runId);
  const outcome = outcomeText(part);
  const given = isOpen ? givenText(approval) : '';
  return (
    <div class="tool asks approval" data-state={isOpen ? 'open' : approval.state}>
      <p class="question" id={titleId} dir="auto">
        {visible(part.name)}
        {host === null ? null : <span class="note">{` calls ${visible(host)}`}</span>}
      </p>
      {isOpen ? (
        <>
          <div
            class="approval-input"
            // It scrolls if the input is long, also with the keyboard.
            role="group"
            aria-label="Input of the call"
            tabIndex={0}
          >
            <Value value={part.input} />
          </div>
          <p class="note terms" role="timer" dir="auto">
            {termsText(approval, expiresAt, nameOf, now)}
          </p>
        </>
      ) : null}
      {given === '' ? null : (
        <p class="note given" dir="auto">
          {given}
        </p>
      )}
      {isOpen ? <Deciding {...props} titleId={titleId} /> : null}
      {outcome === '' ? null : (
        <p class="outcome" dir="auto" tabIndex={-1}>
          {outcome}
        </p>
      )}
      <Details part={part} />
    </div>
  );
}

// The person who decides, and the buttons; or who may decide. The operator chooses the person.
function Deciding(props: ApprovalCardProps & { titleId: string }): JSX.Element {
  const { part, space, people, isOperator, meId, nameOf, titleId } = props;
  const { approval } = part;
  const deciders = decidersOf(approval, people);
  const chosenId = useChosenSender(deciders);
  const decider = isOperator ? chosenId : meId;
  const person = deciders.find(({ id }) => id === decider);
  // The decision is made by the person who is shown when a button is pressed.
  const latest = useRef(person);
  latest.current = person;
  const frame = useFocusAfterDecision(approval.decisions.length);
  const menuId = useNewId();
  if (isOperator ? deciders.length === 0 : !person)
    return (
      <p class="note blocked" dir="auto">
        {isOperator
          ? 'No person in this space may decide this.'
          : `Only ${byText(approval.by, nameOf)} may decide this.`}
      </p>
    );
  const send = async (decision: Decision) => {
    const by = latest.current;
    if (isOperator && !by) {
      document.getElementById(menuId)?.focus();
      throw new Error('Choose the person in whose name you decide.');
    }
    await space.decide(part.callId, decision, isOperator && by ? { senderId: by.id } : {});
  };
  const made = approvalsIn(approval.decisions).some(({ by }) => by === decider);
  const as = isOperator && person ? isolated(person.name) : '';
  return (
    <div ref={frame} tabIndex={-1} class="deciding">
      {isOperator ? (
        <p class="decide-as">
          <label for={menuId}>Decide as</label> <SenderSelect id={menuId} people={deciders} />
        </p>
      ) : null}
      {made ? (
        <p class="note" dir="auto">
          {as ? `${as} has approved it.` : 'You have approved it.'}
        </p>
      ) : null}
      <LazyDecision
        // A new decision changes the call that is decided: a new input, or one person less.
        key={approval.decisions.map(({ by, at }) => `${by} ${at}`).join()}
        part={part}
        labelledBy={titleId}
        as={as}
        hasApproved={made}
        send={send}
      />
    </div>
  );
}

// The buttons are made anew after each decision. The focus stays in the card.
function useFocusAfterDecision(count: number) {
  const frame = useRef<HTMLDivElement>(null);
  const before = useRef(count);
  useLayoutEffect(() => {
    if (before.current !== count && document.activeElement === document.body)
      frame.current?.focus();
    before.current = count;
  }, [count]);
  return frame;
}
