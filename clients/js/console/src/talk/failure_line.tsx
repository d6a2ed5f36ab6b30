// A failed run in one line: what failed, since when, and what helps.

import type { Run, Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import type { SpaceMembers } from '../members/space_members.ts';
import { agentHash, openWhy } from '../navigation/address.ts';
import { timeText } from '../ui/times.ts';
import { RetryButton } from './retry_button.tsx';

// What the Setup of the agent helps against.
const SETUP: readonly Schemas['FailureCode'][] = [
  'not_configured',
  'unauthorized',
  'bad_request',
  'context_too_long',
];

export interface FailureLineProps {
  run: Run;
  /** How many runs of the agent have failed so, one after the other. */
  count: number;
  /** When the first of them did, in milliseconds since 1970. */
  since: number;
  members: SpaceMembers;
}

export function FailureLine({ run, count, since, members }: FailureLineProps): JSX.Element {
  const { isOperator, isGuest, nameOf } = members;
  const { id, agentId, error } = run;
  const needsSetup = error !== null && SETUP.includes(error.code);
  return (
    <p class="failure">
      <span dir="auto">
        {failureText(run, nameOf(agentId), isOperator)}
        {count > 1 ? ` ${timesText(count)} since ${timeText(since)}.` : ''}
      </span>
      {isOperator && needsSetup ? <a href={agentHash(agentId)}>Set up the model</a> : null}
      {isGuest ? null : <RetryButton key={id} runId={id} />}
      {isGuest ? null : (
        <button type="button" class="quiet" onClick={() => openWhy(id)}>
          Why?
        </button>
      )}
    </p>
  );
}

/** What failed. Only the operator can do something about the reason. */
export function failureText({ error, remote }: Run, name: string, isOperator: boolean): string {
  if (!isOperator || !error) return `${name} cannot answer at the moment.`;
  // The message names variables of the environment, which the Setup explains.
  const why =
    error.code === 'not_configured' && !remote
      ? 'no key for its model'
      : `${error.message} (${error.code})`;
  return `${name} cannot answer: ${why}.`;
}

const timesText = (count: number) => (count === 2 ? 'Twice' : `${count} times`);
