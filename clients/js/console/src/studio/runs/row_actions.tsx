// What a person can do with a run or a chain of the table.

import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { cancelChain } from '../../api/chains.ts';
import { agentHash, hashOf, runHash } from '../../navigation/address.ts';
import { isolated } from '../../ui/visible.ts';
import { ActionButton } from '../frame/action_button.tsx';
import type { ListedRun } from './listed.ts';
import type { RunTable } from './run_table.ts';
import { isActive, isRepeatable } from './words.ts';

export interface RunActionsProps {
  run: ListedRun;
  table: RunTable;
}

/** Answer and stop an active run; repeat a failed one, or set up its agent. */
export function RowActions({ run, table }: RunActionsProps): JSX.Element | null {
  const client = useClient();
  const repeatedBy = table.repeats.get(run.id) ?? null;
  const [startedId, setStartedId] = useState(repeatedBy);
  const newId = repeatedBy ?? startedId;
  const name = nameOf(run, table);
  const act = async (call: () => Promise<unknown>) => {
    await call();
    table.onChanged();
  };
  if (isActive(run))
    return (
      <>
        <Answer run={run} table={table} />
        <ActionButton
          class="danger"
          label={`Stop ${name}`}
          act={() => act(() => client.runs.cancel(run.id))}
        >
          Stop
        </ActionButton>
      </>
    );
  if (!isRepeatable(run)) return null;
  if (newId !== null) return <a href={runHash(newId)}>New run</a>;
  const retry = async () => setStartedId(await client.runs.retry(run.id));
  return (
    <>
      {run.error?.code === 'not_configured' ? (
        <a class="button" href={agentHash(run.agentId)} aria-label={`Set up ${name}`}>
          Set up
        </a>
      ) : null}
      <ActionButton label={`Retry ${name}`} act={() => act(retry)}>
        Retry
      </ActionButton>
    </>
  );
}

/** Leads to the card that a waiting run has posted. */
export function Answer({ run, table }: RunActionsProps): JSX.Element | null {
  const item = table.waiting.get(run.id);
  if (!item) return null;
  return (
    <a
      class="button primary"
      href={hashOf(item.spaceId, item.seq)}
      aria-label={`Answer ${isolated(item.agent.name)} in ${isolated(item.spaceName)}`}
    >
      Answer
    </a>
  );
}

/** Stops all active runs of a chain, and wakes nobody further. */
export function StopChain({
  runs,
  table,
}: {
  runs: readonly ListedRun[];
  table: RunTable;
}): JSX.Element | null {
  const client = useClient();
  const run = runs.find((each) => isActive(each) && 'seq' in each.trigger && each.activeSpaceId);
  if (!run) return null;
  const space = table.spaceOf(run);
  const stop = async () => {
    await cancelChain(client, run);
    table.onChanged();
  };
  return (
    <ActionButton
      class="danger"
      label={`Stop chain of ${runs.length} runs${space ? ` in ${isolated(space.name)}` : ''}`}
      act={stop}
    >
      Stop chain
    </ActionButton>
  );
}

// The agent and the space of a run, for the names of its buttons.
function nameOf(run: ListedRun, { agentName, spaceOf }: RunTable): string {
  const space = spaceOf(run);
  const agent = agentName ? isolated(agentName(run.agentId)) : 'the run';
  return agent + (space ? ` in ${isolated(space.name)}` : '');
}
