// The decision of each agent about a message.

import type { Gate, Outcome, Run } from '@smartspace/client';
import { useRuns, useTimeline } from '@smartspace/react';
import type { ComponentType, JSX } from 'preact';
import type { SpaceMembers } from '../members/space_members.ts';
import { openWhy } from '../navigation/address.ts';
import { reasonOf, stateWords } from './outcomes.ts';
import { Section } from './section.tsx';

export interface ScoresProps {
  gate: Gate;
  nameOf: SpaceMembers['nameOf'];
}

interface DecisionsProps {
  run: Run;
  members: SpaceMembers;
  scores: ComponentType<ScoresProps>;
}

/** The decisions about the message that woke the run, or nothing if they are not loaded. */
export function Decisions({ run, members, scores: Scores }: DecisionsProps): JSX.Element | null {
  const { outcomes } = useRuns();
  const { items } = useTimeline();
  const messageId = 'messageId' in run.trigger ? run.trigger.messageId : null;
  const decisions = messageId === null ? undefined : outcomes[messageId];
  if (!decisions) return null;
  const item = items.find((each) => each.type === 'message' && each.message.id === messageId);
  const gate = item?.type === 'message' ? item.message.gate : null;
  return (
    <Section title="What everyone decided">
      <table class="decisions">
        <tbody>
          {decisions.map((outcome) => (
            <Decision
              key={outcome.agentId}
              outcome={outcome}
              name={members.nameOf(outcome.agentId)}
              isThis={outcome.runId === run.id}
              isOperator={members.isOperator}
            />
          ))}
        </tbody>
      </table>
      {gate ? <Scores gate={gate} nameOf={members.nameOf} /> : null}
    </Section>
  );
}

interface DecisionProps {
  outcome: Outcome;
  name: string;
  /** The drawer explains this run. */
  isThis: boolean;
  isOperator: boolean;
}

function Decision({ outcome, name, isThis, isOperator }: DecisionProps) {
  const { runId, state, sourceText } = outcome;
  const isHidden = state === 'failed' && !isOperator;
  const given = isHidden ? null : reasonOf(outcome);
  const reason = given ?? (state === 'silent' ? 'it gave no reason' : null);
  const reasons = [reason, sourceText && `chosen: ${sourceText}`];
  return (
    <tr data-outcome={state} aria-current={isThis ? 'true' : undefined}>
      <th scope="row" dir="auto">
        {runId === null || isThis ? (
          name
        ) : (
          <button type="button" class="link" onClick={() => openWhy(runId)}>
            {name}
          </button>
        )}
      </th>
      <td>{stateWords(outcome)}</td>
      <td dir="auto">{reasons.filter(Boolean).join(' · ')}</td>
    </tr>
  );
}
