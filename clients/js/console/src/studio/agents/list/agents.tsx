// The list of all agents: their state, their model and their last failure.

import type { Entity, Run } from '@smartspace/client';
import type { JSX } from 'preact';
import { agentHash, runHash } from '../../../navigation/address.ts';
import { useNameFilter } from '../../frame/name_filter.tsx';
import { Loaded, Page } from '../../frame/page.tsx';
import { TableHead } from '../../frame/table_head.tsx';
import { workplaceText } from '../setup/runtime.ts';
import { useAgents, useNewestRuns } from './entities.ts';
import { AgentState, PauseButton } from './pause_button.tsx';

export function Agents(): JSX.Element {
  const { agents, error, isLoading, reload } = useAgents();
  const { found, field } = useNameFilter(agents);
  const failed = useNewestRuns('failed');
  const waiting = useNewestRuns('waiting_tool');
  return (
    <Page
      title="Agents"
      actions={
        <a class="button primary" href="#/agents/new">
          New agent
        </a>
      }
    >
      <Loaded
        isLoading={isLoading}
        error={error ?? failed.error ?? waiting.error}
        isEmpty={agents.length === 0}
        empty={
          'There is no agent yet. “New agent” makes one from a template, also one that needs ' +
          'no key.'
        }
      >
        {field}
        <table class="list agent-list" aria-label="Agents">
          <TableHead columns={['Name', 'Model', 'State', 'Last failure']} />
          <tbody>
            {found.map((agent) => (
              <Row
                key={agent.id}
                agent={agent}
                failed={failed.runs}
                waiting={waiting.runs}
                onChanged={reload}
              />
            ))}
          </tbody>
        </table>
      </Loaded>
    </Page>
  );
}

interface RowProps {
  agent: Entity;
  /** The newest failed run of each agent; null until they are loaded. */
  failed: ReadonlyMap<string, Run> | null;
  /** The newest run of each agent that waits for people. */
  waiting: ReadonlyMap<string, Run> | null;
  onChanged: () => void;
}

function Row({ agent, failed, waiting, onChanged }: RowProps) {
  const { id, name, agent: config } = agent;
  const failure = failed?.get(id);
  const open = waiting?.get(id);
  return (
    <tr>
      <th scope="row">
        <a href={agentHash(id)} dir="auto">
          {name}
        </a>
        {config?.description ? (
          <p class="note" dir="auto">
            {config.description}
          </p>
        ) : null}
      </th>
      <td data-label="Model">{config ? workplaceText(config) : ''}</td>
      <td data-label="State">
        <AgentState agent={agent} />
        {open ? (
          <p>
            <a href={runHash(open.id)}>waits for an answer</a>
          </p>
        ) : null}
      </td>
      <td data-label="Last failure" class={failure ? undefined : 'no-failure'}>
        {failure ? <Failure run={failure} /> : failed ? 'none' : '…'}
      </td>
      <td>
        <div class="row-actions">
          <PauseButton agent={agent} onChanged={onChanged} />
        </div>
      </td>
    </tr>
  );
}

function Failure({ run: { id, error, finishedAt } }: { run: Run }) {
  return (
    <>
      <a href={runHash(id)}>{error?.code ?? 'failed'}</a>
      <p class="note" dir="auto">
        {error?.message}
      </p>
      {finishedAt ? (
        <time dateTime={finishedAt}>{new Date(finishedAt).toLocaleString()}</time>
      ) : null}
    </>
  );
}
