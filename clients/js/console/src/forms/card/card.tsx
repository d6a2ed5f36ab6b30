// A tool call as a card: its input while it streams, its form while it is open, and its outcome.

import type { Member, Message, Space, ToolPart } from '@smartspace/client';
import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useNewId } from '../fields/controls.ts';
import { drafts } from '../form/drafts.ts';
import { LazyForm } from '../form/lazy_form.tsx';
import type { Answer } from '../form/sending.ts';
import { answerPairs, type FileNames } from './answer_text.ts';
import { Details } from './details.tsx';
import { hasAnswer, outcomeText } from './outcome.ts';
import { useOwnRight } from './own_right.ts';
import { Pairs } from './pairs.tsx';
import type { CardPart } from './parts.ts';
import { questionOf } from './question.ts';
import { QuestionView } from './question_view.tsx';
import { mayAnswer, onlyText, senderText, switchText, termsText, type NameOf } from './terms.ts';

export interface CardProps {
  /** The call, or its input while that still streams. */
  part: CardPart;
  /** The card's message; null while the input streams. */
  message: Message | null;
  space: Space;
  people: readonly Member[];
  /** The person in whose name the operator answers; null: answer as the caller itself. */
  senderId: string | null;
  isOperator: boolean;
  nameOf: NameOf;
  /** The present time in milliseconds since 1970, for the time that is left. */
  now: number;
}

/**
 * A tool call. Its node stays the same through all states of the call, if the component gets the
 * same key. It renders again only if something that it shows has changed.
 */
export function Card(props: CardProps): JSX.Element {
  const { part, message, space, senderId, nameOf, now } = props;
  const call = 'raw' in part ? null : part;
  const asks = typeof call?.ui === 'string';
  const open = asks && call.status === 'pending' && message?.runId ? call : null;
  const isCaller = senderId === null && !props.isOperator;
  const hasRight = useOwnRight(space, open && isCaller ? open.callId : null);
  const terms = open ? termsText(open, nameOf, now) : '';
  const isBlocked = open !== null && !(hasRight && mayAnswer(open.answerBy, senderId));
  const blocked = isBlocked ? blockedText(open, props) : '';
  const outcome = call ? outcomeText(call, nameOf) : '';
  const isOpen = open !== null;
  const as = props.isOperator ? senderText(senderId, nameOf) : '';
  const files = useFileNames(message);
  return useMemo(
    () => <CardBody {...{ part, space, senderId, as, isOpen, terms, blocked, outcome, files }} />,
    [part, space, senderId, as, isOpen, terms, blocked, outcome, files],
  );
}

// The names of the files of a card: those of its answer. It stays the same until one has changed.
function useFileNames(message: Message | null): FileNames {
  const names = (message?.parts ?? []).flatMap((part) =>
    part.type === 'file' ? [[part.attachmentId, part.name] as const] : [],
  );
  return useMemo(() => new Map<unknown, string>(names), [JSON.stringify(names)]);
}

// An operator has a menu to answer in the name of another person.
const blockedText = ({ answerBy }: ToolPart, { isOperator, people, nameOf }: CardProps) =>
  isOperator ? switchText(answerBy, people) : onlyText(answerBy, nameOf);

interface CardBodyProps {
  part: CardPart;
  space: Space;
  senderId: string | null;
  /** In whose name the operator answers, in words; '' for a person. */
  as: string;
  isOpen: boolean;
  terms: string;
  /** Why the person may not answer, or ''. */
  blocked: string;
  outcome: string;
  files: FileNames;
}

function CardBody(props: CardBodyProps): JSX.Element {
  const { part, isOpen, terms, blocked, outcome } = props;
  const questionId = useNewId();
  const call = hasForm(part) ? part : null;
  const question = call ? questionOf(call) : null;
  const answer =
    call && hasAnswer(call) ? answerPairs(call.output, call.resultSchema, props.files) : [];
  const { outcomeRef, onClose } = useFocusOnOutcome();
  // The open form needs the newest sender.
  const latest = useRef(props);
  latest.current = props;

  return (
    <div class={call ? 'tool asks' : 'tool'}>
      {call && question ? (
        <QuestionView key="question" question={question} id={questionId} ui={call.ui} />
      ) : null}
      {isOpen ? (
        <p key="terms" class="note terms" role="timer" dir="auto">
          {terms}
        </p>
      ) : null}
      {isOpen && blocked !== '' ? (
        <p key="blocked" class="note blocked" dir="auto">
          {blocked}
        </p>
      ) : null}
      {isOpen && call && question ? (
        <LazyForm
          key={call.callId}
          callId={call.callId}
          resultSchema={call.resultSchema}
          options={question.options}
          labelledBy={questionId}
          as={props.as}
          isBlocked={blocked !== ''}
          send={(given) => sendAnswer(latest.current, call.callId, given)}
          onClose={onClose}
        />
      ) : null}
      <Pairs key="answer" pairs={answer} class="answered" />
      {outcome === '' ? null : (
        <p key="outcome" ref={outcomeRef} class="outcome" dir="auto" tabIndex={-1}>
          {outcome}
        </p>
      )}
      <Details key="details" part={part} />
    </div>
  );
}

const hasForm = (part: CardPart): part is ToolPart & { ui: string } =>
  !('raw' in part) && typeof part.ui === 'string';

async function sendAnswer({ space, senderId }: CardBodyProps, callId: string, answer: Answer) {
  const options = senderId === null ? {} : { senderId };
  if ('declined' in answer) await space.decline(callId, answer.reason, options);
  else await space.answer(callId, answer.output, options);
  drafts.delete(callId);
}

// Moves the focus to the outcome when a form with the focus closes. Otherwise it would fall back to
// the top of the page.
function useFocusOnOutcome() {
  const outcomeRef = useRef<HTMLParagraphElement>(null);
  const hadFocus = useRef(false);
  useLayoutEffect(() => {
    if (!hadFocus.current) return;
    hadFocus.current = false;
    // A screen reader announces new nodes of the log and also the focused node. Without this it
    // would announce the outcome twice.
    outcomeRef.current?.setAttribute('aria-live', 'off');
    outcomeRef.current?.focus();
  });
  const onClose = (wasFocused: boolean) => void (hadFocus.current = wasFocused);
  return { outcomeRef, onClose };
}
