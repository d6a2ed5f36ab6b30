// The fields of a trigger policy: the router, or the admin agent.

import type { Schemas, SpaceInfo } from '@smartspace/client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isolated } from '../../ui/visible.ts';
import { providerChoices } from '../agents/setup/models.ts';
import { useProviders } from '../agents/setup/provider_list.ts';
import { NumberField, SelectField, TextArea, TextField } from '../save_form/fields.tsx';
import { modelOf, OF_DEPLOYMENT, OWNER_LIMITS } from './policies.ts';

interface RouterFieldsProps {
  router: Schemas['RouterConfig'] | null;
  /** Only the operator chooses the model. */
  isOperator: boolean;
}

/** The router: its model, and what it knows. */
export function RouterFields({ router, isOperator }: RouterFieldsProps): JSX.Element {
  const model = modelOf(router);
  return (
    <div class="policy-fields">
      {isOperator ? null : (
        <p class="note">
          {model
            ? `The operator has chosen its model: ${isolated(model.name)}.`
            : 'Its model is the router model of this deployment. Without one the gate decides.'}
        </p>
      )}
      <div class="columns">
        {isOperator ? <ModelFields model={model} /> : null}
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
        {...(!isOperator && { maxLength: OWNER_LIMITS.instructions })}
      />
    </div>
  );
}

function ModelFields({ model }: { model: ReturnType<typeof modelOf> }) {
  const first = model?.provider ?? OF_DEPLOYMENT;
  const [provider, setProvider] = useState<string>(first);
  useEffect(() => setProvider(first), [first]);
  // A router plays a script only if it has one already.
  const choices = providerChoices(useProviders(), model?.provider ?? '').filter(
    ({ value }) => value !== 'scripted' || first === 'scripted',
  );
  return (
    <>
      <SelectField
        name="/router/model/provider"
        label="Provider of the router"
        value={first}
        options={[{ value: OF_DEPLOYMENT, text: 'as in this deployment' }, ...choices]}
        onChoose={setProvider}
      />
      {provider === OF_DEPLOYMENT ? null : (
        <TextField
          name="/router/model/name"
          label="Model of the router"
          value={model?.name}
          required
        />
      )}
    </>
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
