// The actions of a run: stop it, repeat it, fork it.

import type { Run } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { open, runHash } from '../../navigation/address.ts';
import { mayFork } from '../../why/run_calls.ts';
import { ActionButton } from '../frame/action_button.tsx';
import { isRepeatable } from '../runs/words.ts';

export function RunActions({ run }: { run: Run }): JSX.Element {
  const { runs } = useClient();
  const { id, finishedAt } = run;
  // The form is at the end of the step.
  const toFork = () => {
    const field = document.querySelector<HTMLElement>('#fork-model');
    field?.scrollIntoView({ block: 'center' });
    field?.focus({ preventScroll: true });
  };
  return (
    <>
      {finishedAt === null ? (
        <ActionButton class="danger" act={() => runs.cancel(id)}>
          Stop
        </ActionButton>
      ) : null}
      {isRepeatable(run) ? (
        <ActionButton class="" act={async () => open(runHash(await runs.retry(id)))}>
          Retry
        </ActionButton>
      ) : null}
      {mayFork(run) ? (
        <button type="button" onClick={toFork}>
          Fork
        </button>
      ) : null}
    </>
  );
}
