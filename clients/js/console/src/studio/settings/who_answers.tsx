// The settings that say which agents answer: the policy, the wake gate, and where talks end.

import type { GateReport, SpaceInfo } from '@smartspace/client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { spacePath } from '../../api/paths.ts';
import { useAnswer } from '../data/answer.ts';
import { dialsWith, gateOf, isScored, MODES, reportText } from '../gate/gate_words.ts';
import { ChoiceField } from '../save_form/choice_field.tsx';
import { CheckField, NumberField } from '../save_form/fields.tsx';
import { OWNER_LIMITS, POLICIES } from './policies.ts';
import { AdminFields, RouterFields } from './policy_fields.tsx';

export interface WhoAnswersProps {
  space: SpaceInfo;
  isOperator: boolean;
}

/** The fields, as a part of the form with the settings. */
export function WhoAnswers({ space, isOperator }: WhoAnswersProps): JSX.Element {
  const { triggerPolicy, maxChainDepth, maxAutoReplies, answerQuestions, router } = space;
  const [policy, setPolicy] = useChosen<string>(triggerPolicy);
  const most = (limit: number, value: number) => (isOperator ? 100 : Math.max(limit, value));
  return (
    <section class="setup-group" aria-label="Who answers">
      <h3>Who answers</h3>
      <ChoiceField
        name="/triggerPolicy"
        label="Which agents does a message wake?"
        value={triggerPolicy}
        chosen={policy}
        options={POLICIES}
        onChoose={setPolicy}
      />
      {policy === 'router' ? (
        <RouterFields router={router ?? null} isOperator={isOperator} />
      ) : null}
      {policy === 'admin' ? <AdminFields space={space} /> : null}
      <GateFields space={space} />
      <CheckField
        name="/answerQuestions"
        label="Do not leave questions to silence"
        hint="If no agent would answer a person’s question, the one that fits best is asked to."
        value={answerQuestions}
      />
      <NumberField
        name="/maxAutoReplies"
        label="How often may an agent answer agents that do not name it?"
        hint="It counts from the last message of a person, a plan or a service."
        value={maxAutoReplies}
        min={0}
        max={most(OWNER_LIMITS.maxAutoReplies, maxAutoReplies)}
        placeholder="3"
      />
      <NumberField
        name="/maxChainDepth"
        label="How many answers may follow each other?"
        hint={
          'This ends conversations of agents among themselves. With 1, an agent’s answer wakes ' +
          'nobody.'
        }
        value={maxChainDepth}
        min={0}
        max={most(OWNER_LIMITS.maxChainDepth, maxChainDepth)}
        placeholder="5"
      />
    </section>
  );
}

function GateFields({ space }: { space: SpaceInfo }) {
  const gate = gateOf(space);
  const [mode, setMode] = useChosen<string>(gate.mode);
  const [dial, setDial] = useChosen<string>(gate.dial);
  const { answer: report, error } = useAnswer<GateReport>(
    isScored(space) ? spacePath(space.id, 'gate') : null,
  );
  return (
    <>
      <ChoiceField
        name="/gate/mode"
        label="What does the gate do?"
        hint="The gate scores how likely each agent is to answer a message."
        value={gate.mode}
        chosen={mode}
        options={MODES}
        onChoose={setMode}
      />
      <ChoiceField
        name="/gate/dial"
        label="How many agents does the gate wake?"
        hint={
          error
            ? `What the dials would have done is unknown: ${error.message}`
            : report && reportText(report)
        }
        value={gate.dial}
        chosen={dial}
        options={dialsWith(report)}
        onChoose={setDial}
      />
    </>
  );
}

// The chosen value. It follows the stored one, which another person may change.
function useChosen<T>(stored: T) {
  const [chosen, setChosen] = useState(stored);
  useEffect(() => setChosen(stored), [stored]);
  return [chosen, setChosen] as const;
}
