// Fields of an agent's setup, by subject. Those without effect on a remote agent are
// left out if the agent works elsewhere.

import type { Schemas } from '@smartspace/client';
import type { ComponentChildren, JSX } from 'preact';
import { CheckField, NumberField, SelectField, TextField } from '../../save_form/fields.tsx';

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

/** Fields with their title. */
export const Group = ({
  title,
  children,
}: {
  title: string;
  children: ComponentChildren;
}): JSX.Element => (
  <div class="setup-group">
    <h3>{title}</h3>
    {children}
  </div>
);

export interface FieldsProps {
  config: Schemas['AgentConfig'];
}

/** How the loop of a run works. */
export const WorkFields = ({ config: { loop } }: FieldsProps): JSX.Element => (
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
      hint={
        'The usual way: it saves one request to the model for each answer. A call of ' +
        'send_message with “more” goes on.'
      }
    />
    <CheckField
      name="/agent/loop/remindUnsaid"
      label="Remind it once if it was named and posted nothing"
      value={loop.remindUnsaid}
    />
  </Group>
);

/** The context of a run: the prompt of a model, or the request to a remote agent. */
export const ContextFields = ({ config: { context, runtime, open } }: FieldsProps): JSX.Element => (
  <Group title={runtime ? 'What it is sent' : 'What it reads'}>
    <NumberField
      name="/agent/context/window"
      label="Messages in the prompt"
      value={context.window}
      min={2}
      max={500}
      placeholder="50"
      hint={runtime ? 'The newest messages of the space.' : 'Earlier messages are summarized.'}
    />
    {runtime ? null : (
      <SelectField
        name="/agent/context/history"
        label="Form of the history"
        value={context.history}
        options={HISTORIES}
      />
    )}
    <SelectField
      name="/agent/context/spaces"
      label="Spaces in the prompt"
      value={context.spaces ?? (open ? 'active' : 'all')}
      options={SPACES}
    />
  </Group>
);

/** The limits of the agent's usage, and of its runs. */
export const LimitFields = ({ config }: FieldsProps): JSX.Element => (
  <div class="columns">
    {config.runtime ? null : <BudgetFields budget={config.budget} />}
    <NumberField
      name="/agent/budget/runsPerMinute"
      label="Runs a minute"
      value={config.budget.runsPerMinute}
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
);

const BudgetFields = ({ budget }: { budget: Schemas['Budget'] }) => (
  <>
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
  </>
);
