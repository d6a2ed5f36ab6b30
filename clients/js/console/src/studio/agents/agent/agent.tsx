// One agent, with its tabs.

import type { Entity } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { entityPath } from '../../../api/paths.ts';
import { agentHash, open } from '../../../navigation/address.ts';
import { giveUp } from '../../../navigation/unsaved.ts';
import { isolated } from '../../../ui/visible.ts';
import { useAnswer } from '../../data/answer.ts';
import { ActionButton } from '../../frame/action_button.tsx';
import { Loaded, Page } from '../../frame/page.tsx';
import { ManagedBy } from '../../managed/managed_by.tsx';
import { isAgent, type AgentTabProps } from '../agent_tab.ts';
import { Deliveries } from '../deliveries/deliveries.tsx';
import { AgentState, PauseButton } from '../list/pause_button.tsx';
import { Goals } from '../records/goals.tsx';
import { NextStep } from '../new_agent/next_step.tsx';
import { Memory } from '../records/memory.tsx';
import { Plans } from '../records/plans.tsx';
import { Revisions } from '../revisions/revisions.tsx';
import { Setup } from '../setup/setup.tsx';
import { Tools } from '../tools/tools.tsx';
import { AgentRuns } from './agent_runs.tsx';
import { AgentSpaces } from './agent_spaces.tsx';
import { ExportButton } from './export_button.tsx';

const TABS = [
  { tab: 'setup', name: 'Setup' },
  { tab: 'tools', name: 'Tools' },
  { tab: 'memory', name: 'Memory' },
  { tab: 'goals', name: 'Goals' },
  { tab: 'plans', name: 'Plans' },
  { tab: 'deliveries', name: 'Deliveries' },
  { tab: 'revisions', name: 'Revisions' },
  { tab: 'runs', name: 'Runs' },
];

// The tabs that show what files say of an agent.
const IN_FILES = ['setup', 'tools', 'revisions'];

const DRIFT =
  'A change of what the file says is drift: the next apply refuses it, unless it is forced, or ' +
  'you export the agent into its file first.';

export interface AgentProps {
  agentId: string;
  tab: string;
  /** The revision that the address names. */
  revision: number | null;
}

/** The page of an agent, at one of its tabs. */
export function Agent({ agentId, tab, revision }: AgentProps): JSX.Element {
  const { answer, error, isLoading } = useAnswer<Entity>(entityPath(agentId));
  const [changed, setChanged] = useState<Entity | null>(null);
  const found = changed ?? answer;
  const agent = found && isAgent(found) ? found : null;
  const current = TABS.some((each) => each.tab === tab) ? tab : 'setup';
  return (
    <Page
      title={isolated(agent?.name ?? 'Agent')}
      about={
        agent ? (
          <>
            <AgentState agent={agent} />
            <AgentSpaces agentId={agentId} />
          </>
        ) : null
      }
      actions={
        agent ? (
          <>
            <PauseButton agent={agent} onChanged={setChanged} />
            <ExportButton agent={agent} />
            <Retire agent={agent} />
          </>
        ) : null
      }
      tabs={TABS.map((each) => ({
        name: each.name,
        href: agentHash(agentId, each.tab),
        isCurrent: each.tab === current,
      }))}
    >
      <Loaded
        isLoading={isLoading}
        error={error}
        isEmpty={agent === null}
        empty="This is a person, not an agent."
      >
        {agent ? (
          <>
            <ManagedBy managedBy={agent.managedBy}>
              {IN_FILES.includes(current) ? DRIFT : null}
            </ManagedBy>
            <Contents tab={current} revision={revision} agent={agent} onChanged={setChanged} />
          </>
        ) : null}
      </Loaded>
    </Page>
  );
}

type ContentsProps = AgentTabProps & Pick<AgentProps, 'tab' | 'revision'>;

function Contents({ tab, revision, ...props }: ContentsProps) {
  const { id } = props.agent;
  switch (tab) {
    case 'tools':
      return <Tools {...props} />;
    case 'memory':
      return <Memory agentId={id} />;
    case 'goals':
      return <Goals agentId={id} />;
    case 'plans':
      return <Plans agentId={id} />;
    case 'deliveries':
      return <Deliveries agentId={id} />;
    case 'revisions':
      return <Revisions {...props} chosen={revision} />;
    case 'runs':
      return <AgentRuns agentId={id} />;
  }
  return (
    <>
      <NextStep name={props.agent.name} />
      <Setup {...props} />
    </>
  );
}

function Retire({ agent }: { agent: Entity }) {
  const client = useClient();
  const { id } = agent;
  const name = isolated(agent.name);
  const question =
    `Retire ${name}? It leaves its spaces, its active runs end, and its plans are deleted. ` +
    'Its messages stay, with its name. This can’t be undone.';
  const retire = async () => {
    await client.request('DELETE', entityPath(id), { retry: true });
    giveUp();
    open('#/agents');
  };
  return (
    <ActionButton class="danger" confirm={question} label={`Retire ${name}`} act={retire}>
      Retire
    </ActionButton>
  );
}
