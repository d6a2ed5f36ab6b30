// What became of a message for the agents that its line only counts. Equal reasons are joined.

import type { Outcome } from '@smartspace/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { openWhy } from '../navigation/address.ts';
import { moreWords, stateWords } from '../why/outcomes.ts';
import { joinedNames } from './joined_names.ts';

const MOST_SEPARATE = 4;

export interface OutcomeListProps {
  listed: readonly Outcome[];
  nameOf: (id: string) => string;
}

export function OutcomeList({ listed, nameOf }: OutcomeListProps): JSX.Element {
  return (
    <ul class="outcome-list" aria-label="The reasons">
      {[...joined(listed)].map(([words, outcomes]) => (
        <Row key={words} {...{ words, outcomes, nameOf }} />
      ))}
    </ul>
  );
}

function joined(listed: readonly Outcome[]) {
  const groups = new Map<string, Outcome[]>();
  for (const outcome of listed) {
    const words = wordsOf(outcome);
    groups.set(words, [...(groups.get(words) ?? []), outcome]);
  }
  return groups;
}

function wordsOf(outcome: Outcome) {
  const more = moreWords(outcome);
  if (outcome.state === 'silent') return more || 'gave no reason';
  return more === '' ? stateWords(outcome) : `${stateWords(outcome)}: ${more}`;
}

interface RowProps extends Pick<OutcomeListProps, 'nameOf'> {
  words: string;
  outcomes: readonly Outcome[];
}

function Row({ words, outcomes, nameOf }: RowProps) {
  const [isOpen, setIsOpen] = useState(outcomes.length < MOST_SEPARATE);
  return (
    <li>
      <span>
        {isOpen ? (
          outcomes.map((each) => <Agent key={each.agentId} outcome={each} nameOf={nameOf} />)
        ) : (
          <button type="button" aria-expanded={false} onClick={() => setIsOpen(true)}>
            <span dir="auto">{joinedNames(outcomes.map(({ agentId }) => nameOf(agentId)))}</span> ▸
          </button>
        )}
      </span>
      <span dir="auto">{words}</span>
    </li>
  );
}

// An agent that was woken has a run, which says why.
function Agent({ outcome, nameOf }: { outcome: Outcome } & Pick<OutcomeListProps, 'nameOf'>) {
  const { agentId, runId } = outcome;
  if (runId === null) return <span dir="auto">{nameOf(agentId)}</span>;
  return (
    <button type="button" title="Why?" onClick={() => openWhy(runId)}>
      <span dir="auto">{nameOf(agentId)}</span>
    </button>
  );
}
