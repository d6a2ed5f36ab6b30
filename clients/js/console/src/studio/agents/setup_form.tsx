// The configuration of an agent as a form.

import type { Entity, Schemas } from '@smartspace/client';
import type { ComponentChildren, JSX } from 'preact';
import { entityPath } from '../../page/paths.ts';
import {
  CheckField,
  NumberField,
  SaveForm,
  SelectField,
  TextArea,
  TextField,
} from '../ui/form.tsx';
import { ModelFields } from './model_fields.tsx';
import { setupPatch } from './setup_body.ts';

export interface SetupFormProps {
  /** The stored agent. */
  agent: Entity;
  /** Whether the other editor has changes that are not saved. */
  isBlocked: () => boolean;
  onSaved: (agent: Entity) => void;
  /** Somebody else has changed the agent to this. */
  onNewer: (agent: Entity) => void;
  /** Shows the stored values again. */
  onUndo: () => void;
}

const MODES: readonly { value: Schemas['ConcurrencyMode']; text: string }[] = [
  { value: 'parallel', text: 'Parallel: each message starts a run at once' },
  { value: 'queue', text: 'Queue: each message gets its run, one after the other' },
  { value: 'coalesce', text: 'Coalesce: messages that wait are answered by one run' },
  { value: 'latest', text: 'Latest: a new message stops the run before it' },
];

const HISTORIES: readonly { value: Schemas['History']; text: string }[] = [
  { value: 'timeline', text: 'Timeline: one text with all messages' },
  { value: 'roles', text: 'Roles: a conversation, its own messages as the assistant' },
];

const SPACES: readonly { value: Schemas['SpacesShown']; text: string }[] = [
  { value: 'all', text: 'All spaces of the agent' },
  { value: 'active', text: 'Only the space of the message' },
];

const CONTINUE: readonly { value: Schemas['ContinueOn']; text: string }[] = [
  { value: 'toolCalls', text: 'After each tool call' },
  { value: 'writes', text: 'Only after tool calls that changed something' },
];

/** The form. Saves what was changed. */
export function SetupForm(props: SetupFormProps): JSX.Element {
  const { agent, isBlocked, onSaved, onNewer, onUndo } = props;
  const config = agent.agent!;
  const { loop, context, concurrency, budget, webhooks } = config;
  const bodyWith = (body: Record<string, unknown>) =>
    isBlocked()
      ? 'The JSON has changes that are not saved. Save or undo them first.'
      : setupPatch(body, config);
  return (
    <SaveForm<Entity>
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
          hint="The start of every prompt."
        />
      </Group>
      <Group title="Model">
        <ModelFields model={config.model} />
      </Group>
      <Group title="Work on one message">
        <div class="columns">
          <NumberField
            name="/agent/loop/maxSteps"
            label="Steps"
            value={loop.maxSteps}
            min={1}
            max={200}
            placeholder="20"
            hint="Model answers in one run."
          />
          <TextField
            name="/agent/loop/timeLimit"
            label="Time limit"
            value={loop.timeLimit}
            placeholder="30 minutes"
            hint="Such as 30 seconds or 2 hours. Waiting for people does not count."
          />
        </div>
        <SelectField
          name="/agent/loop/continueOn"
          label="Ask the model again"
          value={loop.continueOn}
          options={CONTINUE}
        />
        <CheckField
          name="/agent/loop/endAfterSend"
          label="End after it has posted"
          value={loop.endAfterSend}
          hint="Saves one request to the model for each answer. Without it, the agent may post first and work on."
        />
        <CheckField
          name="/agent/loop/remindUnsaid"
          label="Remind it once if it was named and posted nothing"
          value={loop.remindUnsaid}
        />
      </Group>
      <Group title="What it reads">
        <NumberField
          name="/agent/context/window"
          label="Messages in the prompt"
          value={context.window}
          min={2}
          max={500}
          placeholder="50"
          hint="Earlier messages are summarized."
        />
        <SelectField
          name="/agent/context/history"
          label="Form of the history"
          value={context.history}
          options={HISTORIES}
        />
        <SelectField
          name="/agent/context/spaces"
          label="Spaces in the prompt"
          value={context.spaces ?? (config.open ? 'active' : 'all')}
          options={SPACES}
        />
      </Group>
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
        <div class="columns">
          <NumberField
            name="/agent/budget/tokensPerDay"
            label="Tokens a day"
            value={budget.tokensPerDay}
            min={0}
            placeholder="no limit"
          />
          <NumberField
            name="/agent/budget/costPerDay"
            label="Dollars a day"
            value={budget.costPerDay}
            min={0}
            step="any"
            placeholder="no limit"
          />
          <NumberField
            name="/agent/budget/runsPerMinute"
            label="Runs a minute"
            value={budget.runsPerMinute}
            min={1}
            placeholder="60"
          />
          <NumberField
            name="/agent/maxChainDepth"
            label="Chain depth"
            value={config.maxChainDepth}
            min={0}
            max={100}
            placeholder="5"
            hint="How many runs may cause each other."
          />
        </div>
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

const Group = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div class="setup-group">
    <h3>{title}</h3>
    {children}
  </div>
);
