import type { Run } from '@smartspace/client';
import type { JSX } from 'preact';
import { adviceOf } from './failures.ts';

/** The error of a failed run, and advice. Nothing if the run has not failed. */
export function Failure({ run }: { run: Run }): JSX.Element | null {
  const { error } = run;
  if (!error) return null;
  const advice = adviceOf(run);
  return (
    <>
      <p class="problem" dir="auto">{`${error.message} (${error.code})`}</p>
      {advice === null ? null : <p class="note">{advice}</p>}
    </>
  );
}
