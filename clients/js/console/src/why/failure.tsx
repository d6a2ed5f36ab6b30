import type { Run } from '@smartspace/client';
import type { JSX } from 'preact';
import { adviceOf } from './failures.ts';

export interface FailureProps {
  run: Run;
  isOperator: boolean;
}

/**
 * The error of a failed run, and advice, for the operator: only they can do something about it.
 * Nothing if the run has not failed.
 */
export function Failure({ run, isOperator }: FailureProps): JSX.Element | null {
  const { error } = run;
  if (!error) return null;
  if (!isOperator) return <p class="problem">It cannot answer at the moment.</p>;
  const advice = adviceOf(run);
  return (
    <>
      <p class="problem" dir="auto">{`${error.message} (${error.code})`}</p>
      {advice === null ? null : <p class="note">{advice}</p>}
    </>
  );
}
