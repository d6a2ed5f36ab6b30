// One run of a table: its state, its trigger, its numbers, and its actions.

import type { Run } from '@smartspace/client';
import { useClient, useSpaces } from '@smartspace/react';
import type { JSX, TargetedMouseEvent } from 'preact';
import { useState } from 'preact/hooks';
import { agentHash, hashOf, open, runHash } from '../../navigation/address.ts';
import { ActionButton } from '../frame/action_button.tsx';
import { Ago } from './ago.tsx';
import { useTriggerMessage } from './trigger_message.ts';
import { causeOf, isActive, isRepeatable, lengthOf, numbersOf, stateOf, textOf } from './words.ts';

export interface RunRowProps {
  run: Run;
  now: number;
  agentName?: ((id: string) => string) | undefined;
  /** The run that repeats this one, if it is known. */
  repeatedBy: string | null;
  onChanged: () => void;
}

/** A row. A click beside its links opens the run, too. */
export function RunRow({ run, now, agentName, repeatedBy, onChanged }: RunRowProps): JSX.Element {
  const state = stateOf(run);
  const length = lengthOf(run, now);
  const { tokens, cost, title } = numbersOf(run);
  const click = ({ target }: TargetedMouseEvent<HTMLTableRowElement>) => {
    const isText = getSelection()?.isCollapsed === false;
    if (!isText && !(target as Element).closest('a, button')) open(runHash(run.id));
  };
  return (
    <tr onClick={click}>
      <th scope="row">
        <a class="run-state" data-tone={state.tone} href={runHash(run.id)}>
          {state.words}
        </a>
        {state.detail ? (
          <span class="note clipped" dir="auto" title={state.detail}>
            {state.detail}
          </span>
        ) : null}
        {run.remote ? <span class="note">works elsewhere</span> : null}
        {run.forkOf ? <span class="note">dry run of another run</span> : null}
        {run.retryOf ? <span class="note">repeats another run</span> : null}
      </th>
      {agentName ? (
        <td data-label="Agent">
          <a href={agentHash(run.agentId)} dir="auto">
            {agentName(run.agentId)}
          </a>
        </td>
      ) : null}
      <td class="cause" data-label="Triggered by">
        <Trigger run={run} />
      </td>
      <td class="when" data-label="Started">
        {run.startedAt === null && isActive(run) ? 'queued ' : null}
        <Ago at={run.startedAt ?? run.createdAt} />
      </td>
      <td class="number" data-label="Duration">
        {length ?? '–'}
      </td>
      <td class="number" data-label="Steps">
        {run.stepCount}
      </td>
      <td class="number" data-label="Tokens" title={title}>
        {tokens}
        {run.reportedUsage ? <span class="note">reported</span> : null}
      </td>
      <td class="number" data-label="Cost">
        {cost}
      </td>
      <td>
        <div class="row-actions">
          <Actions run={run} repeatedBy={repeatedBy} onChanged={onChanged} />
        </div>
      </td>
    </tr>
  );
}

function Trigger({ run }: { run: Run }) {
  const message = useTriggerMessage(run);
  const { spaces } = useSpaces();
  const space = spaces.find(({ id }) => id === message?.spaceId);
  return (
    <>
      <span dir="auto">{causeOf(run, message)}</span>
      {message ? (
        <>
          {' in '}
          <a href={hashOf(message.spaceId, message.seq)} dir="auto">
            {space?.name ?? `#${message.seq}`}
          </a>
          <span class="note clipped" dir="auto">
            {textOf(message)}
          </span>
        </>
      ) : null}
    </>
  );
}

function Actions({ run, repeatedBy, onChanged }: Omit<RunRowProps, 'now' | 'agentName'>) {
  const client = useClient();
  const [startedId, setStartedId] = useState(repeatedBy);
  const newId = repeatedBy ?? startedId;
  const stop = async () => {
    await client.runs.cancel(run.id);
    onChanged();
  };
  const retry = async () => {
    setStartedId(await client.runs.retry(run.id));
    onChanged();
  };
  if (isActive(run)) return <ActionButton act={stop}>Stop</ActionButton>;
  if (!isRepeatable(run)) return null;
  return newId === null ? (
    <ActionButton act={retry}>Retry</ActionButton>
  ) : (
    <a href={runHash(newId)}>New run</a>
  );
}
