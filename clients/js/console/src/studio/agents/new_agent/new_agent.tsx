// The page that makes an agent from a template.

import type { Entity, Schemas, SpaceInfo } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { spacePath } from '../../../api/paths.ts';
import { agentHash, open } from '../../../navigation/address.ts';
import { wordsOf } from '../../../ui/notices.tsx';
import { preference } from '../../../ui/preferences.ts';
import { isolated } from '../../../ui/visible.ts';
import { useAnswer } from '../../data/answer.ts';
import { Page } from '../../frame/page.tsx';
import { fieldsOf } from '../../save_form/body.ts';
import { SelectField, TextArea, TextField } from '../../save_form/fields.tsx';
import { SaveForm } from '../../save_form/save_form.tsx';
import { modelsOf, needsOf, PROVIDERS, providerChoices, SCRIPT_HINT } from '../setup/models.ts';
import { useProviders } from '../setup/provider_list.ts';
import { instructionsHint, RuntimeFields } from '../setup/runtime_fields.tsx';
import { SpaceChoices } from './space_choices.tsx';
import { madeHash } from './next_step.tsx';
import { newAgentBody, scriptOf, TEMPLATES, type Template } from './templates.ts';

const DEFAULT = PROVIDERS[0].value;
const TEXTS = ['/name', '/agent/description', '/agent/instructions', '/agent/runtime/url'];

/** An agent that was made, and the spaces that it could not join. */
interface Made {
  agent: Entity;
  problems: string[];
}

export function NewAgent(): JSX.Element {
  const [template, setTemplate] = useState(TEMPLATES[0]);
  const [made, setMade] = useState<Made | null>(null);
  const form = useTyped(template);
  return (
    <Page
      title="New agent"
      actions={
        <a href="#/agents" class="button">
          All agents
        </a>
      }
    >
      {made ? (
        <div role="alert">
          <p>
            <bdi>{made.agent.name}</bdi> was made, but is not where you want it:
          </p>
          <ul class="problem">
            {made.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
          <p>
            <a href={agentHash(made.agent.id)}>
              Open <bdi>{made.agent.name}</bdi>
            </a>
          </p>
        </div>
      ) : (
        <>
          <TemplateChoice chosen={template} onChoose={setTemplate} />
          <div {...form}>
            <NewAgentForm template={template} onFailed={setMade} />
          </div>
        </>
      )}
    </Page>
  );
}

// Keeps the typed texts when another template is chosen, which changes the fields.
function useTyped(template: Template) {
  const ref = useRef<HTMLDivElement>(null);
  const typed = useRef(new Map<string, string>());
  const onInput = ({ target }: Event) => {
    const { name, value } = target as HTMLInputElement;
    if (TEXTS.includes(name)) typed.current.set(name, value);
  };
  useLayoutEffect(() => {
    if (!ref.current) return;
    for (const field of fieldsOf(ref.current)) {
      const text = typed.current.get(field.name);
      if (text !== undefined) field.value = text;
    }
  }, [template]);
  return { ref, onInput };
}

interface TemplateChoiceProps {
  chosen: Template;
  onChoose: (template: Template) => void;
}

const TemplateChoice = ({ chosen, onChoose }: TemplateChoiceProps) => (
  <fieldset class="templates">
    <legend>Template</legend>
    {TEMPLATES.map((template) => (
      <label key={template.id} class="template">
        <input
          type="radio"
          name="template"
          checked={template === chosen}
          aria-describedby={`about-${template.id}`}
          onChange={() => onChoose(template)}
        />
        <strong>{template.title}</strong>
        <span class="note" id={`about-${template.id}`}>
          {template.about}
        </span>
      </label>
    ))}
  </fieldset>
);

interface NewAgentFormProps {
  template: Template;
  /** The agent was made, but has not joined all spaces. */
  onFailed: (made: Made) => void;
}

function NewAgentForm({ template, onFailed }: NewAgentFormProps) {
  const client = useClient();
  const spaces = useAnswer<{ items: SpaceInfo[]; nextCursor: string | null }>(
    '/v1/spaces?limit=200',
  );
  // Null until the person chooses. Then it is the space that was open last, unless the template
  // changes the policy of its spaces.
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const [lastSpace] = useState(() => preference('space'));
  const [asked, setAsked] = useState(DEFAULT);
  const listed = useProviders();
  const isAdmin = useRef<HTMLInputElement>(null);
  const items = spaces.answer?.items ?? [];
  const last = template.isAdmin ? null : lastSpace;
  const ids = chosen ?? items.filter(({ id }) => id === last).map(({ id }) => id);
  const joined = items.filter(({ id }) => ids.includes(id));
  const provider = template.id === 'scripted' ? 'scripted' : asked;

  const bodyWith = (body: Record<string, unknown>) => {
    const name = String(body.name).toLowerCase();
    const taken = joined.find(({ members }) =>
      members.some((each) => each.type === 'agent' && each.name.toLowerCase() === name),
    );
    if (taken)
      return `“${isolated(taken.name)}” already has an agent of this name. Choose another name.`;
    return newAgentBody(template, body, joined[0] ?? null);
  };
  const saved = async (agent: Entity) => {
    const problems: string[] = [];
    for (const space of joined) {
      const path = spacePath(space.id);
      try {
        const member = spacePath(space.id, 'members', agent.id);
        await client.request('PUT', member, { body: {}, retry: true });
        if (!isAdmin.current?.checked) continue;
        const body = { triggerPolicy: 'admin', adminAgentId: agent.id };
        await client.request('PATCH', path, { body, retry: true });
      } catch (error) {
        problems.push(`${isolated(space.name)}: ${wordsOf(error)}`);
      }
    }
    if (problems.length > 0) onFailed({ agent, problems });
    else open(madeHash(agent.id, joined[0]?.id));
  };
  return (
    <SaveForm<Entity>
      request={{ method: 'POST', path: '/v1/entities' }}
      submit="Create agent"
      label="New agent"
      done=""
      bodyWith={bodyWith}
      onSaved={saved}
      actions={
        joined.length > 0 ? (
          <span class="note">It joins {joined.map(({ name }) => isolated(name)).join(', ')}.</span>
        ) : null
      }
    >
      {template.adds ? <p class="note">{template.adds}</p> : null}
      <TextField
        key={`name-${template.id}`}
        name="/name"
        label="Name"
        value={template.name}
        required
        maxLength={128}
      />
      <TextField
        key={`description-${template.id}`}
        name="/agent/description"
        label="Description"
        value={template.description}
        hint="Other agents and routers read it."
      />
      <TextArea
        key={`instructions-${template.id}`}
        name="/agent/instructions"
        label="Instructions"
        rows={5}
        value={template.instructions}
        hint={instructionsHint(Boolean(template.isRemote))}
      />
      {template.isRemote ? (
        <RuntimeFields />
      ) : (
        <ModelChoice
          template={template}
          space={joined[0] ?? null}
          provider={provider}
          listed={listed}
          onChoose={setAsked}
        />
      )}
      <SpaceChoices
        spaces={items}
        isLoading={spaces.isLoading}
        error={spaces.error}
        hasMore={Boolean(spaces.answer?.nextCursor)}
        chosen={ids}
        onChoose={setChosen}
      />
      {template.isAdmin && joined.length > 0 ? (
        <label class="check">
          <input type="checkbox" ref={isAdmin} defaultChecked />
          Make it the admin agent of these spaces: messages of people go to it first
        </label>
      ) : null}
    </SaveForm>
  );
}

interface ModelChoiceProps {
  template: Template;
  /** The first space that the agent joins. */
  space: SpaceInfo | null;
  provider: string;
  listed: readonly Schemas['Provider'][];
  onChoose: (provider: string) => void;
}

const ModelChoice = ({ template, space, provider, listed, onChoose }: ModelChoiceProps) => (
  <>
    <div class="columns">
      <SelectField
        key={template.id}
        name="/agent/model/provider"
        label="Provider"
        value={provider}
        options={providerChoices(listed, provider)}
        disabled={template.id === 'scripted'}
        onChoose={onChoose}
        hint={needsOf(provider, listed)}
      />
      <TextField
        key={provider}
        name="/agent/model/name"
        label="Model"
        value={modelsOf(provider)[0] ?? ''}
        required
        options={modelsOf(provider)}
      />
    </div>
    {provider === 'scripted' ? (
      <TextArea
        key={`script-${template.id}-${space?.id}`}
        name="/agent/model/script"
        label="Script"
        kind="json"
        rows={8}
        value={JSON.stringify(scriptOf(template, space), null, 2)}
        hint={SCRIPT_HINT}
      />
    ) : null}
  </>
);
