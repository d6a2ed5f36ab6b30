// The button that pauses or resumes an agent.

import type { Entity } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { entityPath } from '../../../api/paths.ts';
import { isolated } from '../../../ui/visible.ts';
import { ActionButton } from '../../frame/action_button.tsx';

export interface PauseButtonProps {
  agent: Entity;
  /** Called with the changed agent. */
  onChanged: (agent: Entity) => void;
}

export function PauseButton({ agent, onChanged }: PauseButtonProps): JSX.Element {
  const client = useClient();
  const isPaused = agent.agent?.paused ?? false;
  const verb = isPaused ? 'Resume' : 'Pause';
  const act = async () => {
    const body = { agent: { paused: !isPaused } };
    onChanged(await client.request('PATCH', entityPath(agent.id), { body, retry: true }));
  };
  return (
    <ActionButton label={`${verb} ${isolated(agent.name)}`} act={act}>
      {verb}
    </ActionButton>
  );
}

/** The state of an agent in a word. */
export const AgentState = ({ agent }: { agent: Entity }): JSX.Element =>
  agent.agent?.paused ? (
    <span class="badge agent-paused">paused</span>
  ) : (
    <span class="badge agent-active">active</span>
  );
