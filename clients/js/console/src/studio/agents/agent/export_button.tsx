// The button that downloads an agent as a file of a project.

import type { Entity } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { entityPath } from '../../../api/paths.ts';
import { isolated } from '../../../ui/visible.ts';
import { isAgent } from '../agent_tab.ts';
import { ActionButton } from '../../frame/action_button.tsx';
import { agentFile, type Description } from './agent_file.ts';

export function ExportButton({ agent: { id, name } }: { agent: Entity }): JSX.Element {
  const client = useClient();
  const download = async () => {
    // Others may have changed the agent since it was loaded.
    const [agent, description] = await Promise.all([
      client.request<Entity>('GET', entityPath(id), { retry: true }),
      client.request<Description>('GET', '/openapi.json', { retry: true }),
    ]);
    if (isAgent(agent)) save(agentFile(agent, description));
  };
  return (
    <ActionButton label={`Export ${isolated(name)} as a file`} act={download}>
      Export
    </ActionButton>
  );
}

function save({ name, text }: { name: string; text: string }) {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
