// The configuration of an agent as a form.

import type { Entity, Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { entityPath } from '../../../api/paths.ts';
import {
  CheckField,
  NumberField,
  SelectField,
  TextArea,
  TextField,
} from '../../save_form/fields.tsx';
import { SaveForm } from '../../save_form/save_form.tsx';
import type { AgentEntity } from '../agent_tab.ts';
import { ModelFields } from './model_fields.tsx';
import { instructionsHint, RuntimeFields } from './runtime_fields.tsx';
import { setupPatch } from './setup_body.ts';
import { ContextFields, Group, LimitFields, WorkFields } from './setup_fields.tsx';

export interface SetupFormProps {
  agent: AgentEntity;
  /** Whether the other editor has changes that are not saved. */
  isBlocked: () => boolean;
  onSaved: (agent: AgentEntity) => void;
  /** Called with the agent after another person has changed it. */
  onNewer: (agent: Entity) => void;
  /** Shows the stored values again. */
  onUndo: () => void;
}

const MODES: readonly { value: Schemas['ConcurrencyMode']; text: string }[] = [
  {
    value: 'coalesce',
    text: 'Coalesce, the usual way: messages that wait are answered by one run',
  },
  { value: 'queue', text: 'Queue: each message gets its run, one after the other' },
  { value: 'latest', text: 'Latest: a new message stops the run before it' },
  { value: 'parallel', text: 'Parallel: each message starts a run at once' },
];

/** The form. It saves the changed fields only. */
export function SetupForm(props: SetupFormProps): JSX.Element {
  const { agent, isBlocked, onSaved, onNewer, onUndo } = props;
  const config = agent.agent;
  const { model, runtime, concurrency, webhooks } = config;
  const bodyWith = (body: Record<string, unknown>) =>
    isBlocked()
      ? 'The JSON has changes that are not saved. Save or undo them first.'
      : setupPatch(body, config);
  return (
    <SaveForm<AgentEntity>
      request={{ method: 'PATCH', path: entityPath(agent.id) }}
      loaded={agent}
      onNewer={onNewer}
      submit="Save"
      label="Configuration"
      bodyWith={bodyWith}
      onSaved={onSaved}
      actions={
        <button type="button" class="quiet" onClick={onUndo}>
          Undo changes
        </button>
      }
    >
      <Group title="About">
        <TextField name="/name" label="Name" value={agent.name} required maxLength={128} />
        <TextField
          name="/agent/description"
          label="Description"
          value={config.description}
          hint="Its purpose in one sentence. Other agents and routers read it."
        />
        <TextArea
          name="/agent/instructions"
          label="Instructions"
          kind="plain"
          rows={6}
          value={config.instructions}
          hint={instructionsHint(Boolean(runtime))}
        />
      </Group>
      {model ? (
        <Group title="Model">
          <ModelFields model={model} />
        </Group>
      ) : null}
      {runtime ? (
        <Group title="Where it works">
          <RuntimeFields runtime={runtime} />
        </Group>
      ) : (
        <WorkFields config={config} />
      )}
      <ContextFields config={config} />
      <Group title="Several messages at once">
        <SelectField
          name="/agent/concurrency/mode"
          label="While it is busy in a space"
          value={concurrency.mode}
          options={MODES}
        />
        <NumberField
          name="/agent/concurrency/maxRuns"
          label="Runs at the same time"
          value={concurrency.maxRuns}
          min={1}
          max={100}
          placeholder="5"
          hint="In all its spaces together. More runs wait."
        />
      </Group>
      <Group title="Limits">
        <LimitFields config={config} />
      </Group>
      <Group title="Use">
        <CheckField
          name="/agent/open"
          label="Owners of spaces may add it"
          value={config.open}
          hint="Otherwise only operators may."
        />
        <CheckField
          name="/agent/paused"
          label="Paused"
          value={config.paused}
          hint="Nothing triggers a paused agent. Its active runs continue."
        />
      </Group>
      <Group title="Webhooks">
        <TextArea
          name="/agent/webhooks"
          label="Services that may trigger it"
          kind="json"
          rows={5}
          value={JSON.stringify(webhooks ?? {}, null, 2)}
          hint={
            <>
              By name: {'{"ci": {"scheme": "github", "secrets": ["CI_HOOK"]}}'}. The service posts
              to{' '}
              <code>
                /v1/hooks/{agent.id}/<i>name</i>
              </code>
              .
            </>
          }
        />
      </Group>
    </SaveForm>
  );
}
