// What the caller can do at once about a card that waits: the options of its buttons, or decisions.

import type { AnswerBy, Decision, InboxItem, Message } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import { useEffect, useState } from 'preact/hooks';
import { spacePath } from '../api/paths.ts';
import { questionOf } from '../forms/card/question.ts';
import { mayAnswer, senderText } from '../forms/card/terms.ts';
import { isObject } from '../forms/schema/json.ts';
import { chosenSender } from '../members/chosen_sender.ts';
import { decidersOf, useChosenPerson } from '../members/sender_choice.tsx';
import { wordsOf } from '../ui/notices.tsx';
import { shownName } from '../ui/visible.ts';

// More of them have no room in the sidebar.
const MOST_OPTIONS = 3;

export interface Need {
  /** Those of a question with buttons; empty for others, and for a person who may not answer. */
  options: readonly unknown[];
  /** In whose name the operator answers, in words; '' for a person. */
  as: string;
  isBusy: boolean;
  problem: string;
  answer: (choice: unknown) => void;
  approve: () => void;
  decline: () => void;
}

export function useNeed(item: InboxItem, isOperator: boolean): Need {
  const space = useClient().space(item.spaceId);
  // The card in the timeline is answered in the same name.
  const person = useChosenPerson(item.spaceId);
  const answerId = isOperator ? (person?.id ?? null) : null;
  const { options, answerBy } = useQuestion(item);
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const act = (doing: () => Promise<unknown>) => {
    setProblem('');
    setIsBusy(true);
    doing().catch((error) => {
      setProblem(wordsOf(error));
      setIsBusy(false);
    });
  };
  const decide = (decision: Decision) => {
    const { members } = space.members.getSnapshot();
    const senderId = isOperator ? chosenSender(decidersOf(members)) : null;
    if (!isOperator) return act(() => space.decide(item.callId, decision));
    if (senderId !== null) return act(() => space.decide(item.callId, decision, { senderId }));
    document.getElementById(`need-${item.callId}`)?.focus();
    setProblem('Choose the person in whose name you decide.');
  };
  return {
    options: mayAnswer(answerBy, answerId) ? options : [],
    as: isOperator ? senderText(answerId, (id) => shownName(person ?? { name: id })) : '',
    isBusy,
    problem,
    // An answer needs no person: the card says that the operator has given it.
    answer: (choice) =>
      act(() =>
        space.answer(item.callId, { choice }, answerId === null ? {} : { senderId: answerId }),
      ),
    approve: () => decide({ action: 'approve', inputRevision: item.inputRevision ?? 0 }),
    decline: () => decide({ action: 'decline' }),
  };
}

interface AskedQuestion {
  options: readonly unknown[];
  answerBy: AnswerBy | null;
}

const NO_QUESTION: AskedQuestion = { options: [], answerBy: null };

// The inbox does not say how a form shows, so its message is read if it may have buttons.
function useQuestion({ kind, input, spaceId, seq, callId }: InboxItem): AskedQuestion {
  const client = useClient();
  const [question, setQuestion] = useState(NO_QUESTION);
  const mayHave = kind === 'form' && isObject(input) && Array.isArray(input.options);
  useEffect(() => {
    if (!mayHave) return;
    const path = spacePath(spaceId, 'messages', `${seq}`);
    client.request<Message>('GET', path, { retry: true }).then(
      (message) => setQuestion(questionIn(message, callId)),
      // The card has them.
      () => {},
    );
  }, [callId, mayHave]);
  return question;
}

function questionIn({ parts }: Message, callId: string): AskedQuestion {
  for (const part of parts) {
    if (part.type !== 'tool' || part.callId !== callId) continue;
    const { options } = questionOf(part);
    if (options && options.length <= MOST_OPTIONS) return { options, answerBy: part.answerBy };
  }
  return NO_QUESTION;
}
