// The fields of a trigger policy: the router, or the admin agent.

import type { Schemas, SpaceInfo } from '@smartspace/client';
import type { JSX } from 'preact';
import { providerChoices } from '../agents/setup/models.ts';
import { useProviders } from '../agents/setup/provider_list.ts';
import { NumberField, SelectField, TextArea, TextField } from '../save_form/fields.tsx';

/** The model that chooses agents. */
export function RouterFields({ router }: { router: Schemas['RouterConfig'] | null }): JSX.Element {
  const provider = router?.model.provider ?? '';
  // A router plays a script only if it has one already.
  const choices = providerChoices(useProviders(), provider).filter(
    ({ value }) => value !== 'scripted' || provider === 'scripted',
  );
  const none = provider === '' ? [{ value: '', text: 'Choose a provider' }] : [];
  return (
    <div class="policy-fields">
      <div class="columns">
        <SelectField
          name="/router/model/provider"
          label="Provider of the router"
          value={provider}
          options={[...none, ...choices]}
        />
        <TextField
          name="/router/model/name"
          label="Model of the router"
          value={router?.model.name}
          required
        />
        <NumberField
          name="/router/maxAgents"
          label="Most agents to wake"
          value={router?.maxAgents}
          min={1}
          max={20}
          placeholder="3"
        />
      </div>
      <TextArea
        name="/router/instructions"
        label="Instructions for the router"
        hint="The router knows the description of each agent."
        value={router?.instructions}
        rows={3}
      />
    </div>
  );
}

/** The agent that people’s messages wake. */
export function AdminFields({ space }: { space: SpaceInfo }): JSX.Element {
  const agents = space.members.filter(({ type }) => type === 'agent');
  const current = agents.find(({ id }) => id === space.adminAgentId)?.id ?? '';
  return (
    <div class="policy-fields">
      <SelectField
        name="/adminAgentId"
        label="Admin agent"
        hint={agents.length === 0 ? 'This space has no agents yet. Add one below.' : undefined}
        value={current}
        options={[
          ...(current === '' ? [{ value: '', text: 'Choose an agent' }] : []),
          ...agents.map(({ id, name }) => ({ value: id, text: name })),
        ]}
      />
    </div>
  );
}
