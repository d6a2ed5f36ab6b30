// Templates of new agents. Each but the remote one has a script, so that it also answers without a
// key. Pure.

import type { SpaceInfo } from '@smartspace/client';
import { isObject } from '../../../forms/schema/json.ts';
import { runtimeWith } from '../setup/runtime.ts';

/** The values that a new agent starts with. */
export interface Template {
  id: string;
  title: string;
  /** One sentence for the choice of a template. */
  about: string;
  /** A sentence about the parts of `config` that the form does not show. */
  adds?: string;
  name: string;
  description: string;
  instructions: string;
  /** Further parts of the configuration. */
  config: Record<string, unknown>;
  /** The rules of its script, if a script is its model. `space` is the first space it joins. */
  rules: (space: SpaceInfo | null) => unknown[];
  /** It works in spaces of which it is the admin agent. */
  isAdmin?: boolean;
  /** It works elsewhere, so it has no model here. */
  isRemote?: boolean;
}

const say = (text: string) => ({ calls: [{ tool: 'send_message', input: { text } }] });
const byPeople = { trigger: 'space_message', sender: 'human' };

// It stands for a tool that acts. The rule for it stays when it is replaced.
const ACT = {
  name: 'act',
  description: 'Acts on a request. People have to approve the call first.',
  inputSchema: {
    type: 'object',
    properties: { action: { type: 'string', description: 'What is done, in one sentence.' } },
    required: ['action'],
    additionalProperties: false,
  },
  execution: { type: 'static', output: { report: 'The call was made.' } },
};

/** The templates, the first one chosen at first. */
export const TEMPLATES: readonly [Template, ...Template[]] = [
  {
    id: 'assistant',
    title: 'Assistant',
    about: 'Answers people in its spaces and remembers what matters.',
    name: 'Assistant',
    description: 'Answers questions and helps with everyday work.',
    instructions:
      'You help the people in this space. Answer in the language of the question, briefly and ' +
      'concretely. Say so if you do not know something. Store lasting facts about people and ' +
      'their work in your memory. Stay silent if a message is clearly meant for somebody else.',
    config: {},
    rules: () => [{ when: byPeople, steps: [say('Hello {{sender}}! You wrote: {{message}}')] }],
  },
  {
    id: 'observer',
    title: 'Silent observer',
    about: 'Reads everything, stores what matters in its memory, and never posts.',
    name: 'Observer',
    description: 'Reads along and keeps notes. It never posts.',
    instructions:
      'You observe this space and never post a message. When a message holds a decision, a date, ' +
      'a name or another lasting fact, store it with set_memories under a short key. Then call ' +
      'skip_response and say in one sentence what you noted.',
    config: { builtins: { goals: false, plans: false, delegate: false } },
    adds: 'Turns off its tools for goals, plans and delegating.',
    rules: () => [
      {
        when: byPeople,
        steps: [
          {
            calls: [
              {
                tool: 'set_memories',
                input: { memories: [{ key: 'latest message', value: '{{message}}' }] },
              },
            ],
          },
          {
            calls: [
              {
                tool: 'skip_response',
                input: { reason: 'I only observe, and noted this message.' },
              },
            ],
          },
        ],
      },
    ],
  },
  {
    id: 'approver',
    title: 'Approver',
    about: 'Acts only after people have approved: a rule holds its calls until then.',
    name: 'Approver',
    description: 'Does what people ask for, once they approve it.',
    instructions:
      'You take requests in this space. To act on a request, call act and say in one sentence ' +
      'exactly what you will do. People approve or decline the call before it is made. Then ' +
      'report in one sentence what was done or declined.',
    config: { tools: [ACT], approvals: [{ tools: ['act'] }] },
    adds: 'Adds the tool act, which does nothing yet, and a rule: people approve its calls.',
    rules: () => [
      {
        when: byPeople,
        steps: [
          { calls: [{ tool: 'act', input: { action: '{{message}}' } }] },
          say('“{{message}}” is decided. {{result.report}}{{result.reason}}{{result.response}}'),
        ],
      },
    ],
  },
  {
    id: 'webhook',
    title: 'Webhook handler',
    about: 'Reports to a space when another service, such as a build server, triggers it.',
    name: 'Herald',
    description: 'Reports what other services send.',
    instructions:
      'Services wake you with a payload. Enter the space that the payload concerns with ' +
      'enter_space, and report there in one or two sentences what happened and what people ' +
      'should do. Stay silent if nothing needs attention.',
    config: { webhooks: { ci: { scheme: 'github', secrets: ['CI_HOOK'] } } },
    adds: 'Adds the service “ci”, which signs as GitHub does with the secret CI_HOOK.',
    rules: (space) => [
      {
        when: { trigger: 'service' },
        steps: [
          ...(space ? [{ calls: [{ tool: 'enter_space', input: { spaceId: space.id } }] }] : []),
          say('A service sent: {{payload}}'),
        ],
      },
      { when: byPeople, steps: [say('I report here what services send.')] },
    ],
  },
  {
    id: 'router',
    title: 'Dispatcher',
    about: 'Gets each message of a space first, and hands it on to the agent that fits.',
    name: 'Dispatcher',
    description: 'Hands questions on to the agent that fits.',
    instructions:
      'You are the admin agent: messages of people come to you first. Choose the agent whose ' +
      'description fits best and call delegate with its name and a short note. Answer yourself ' +
      'only if no other agent fits.',
    config: { builtins: { goals: false, plans: false } },
    adds:
      'Turns off its tools for goals and plans. It can use delegate only in spaces whose ' +
      'admin agent it is.',
    isAdmin: true,
    rules: (space) => {
      const other = space?.members.find(({ type }) => type === 'agent');
      const answer = { when: byPeople, steps: [say('There is no other agent here.')] };
      if (!other) return [answer];
      const input = { agent: other.id, note: 'Please answer this message.' };
      return [
        {
          when: { source: 'admin' },
          steps: [{ calls: [{ tool: 'delegate', input }] }],
        },
        answer,
      ];
    },
  },
  {
    id: 'scripted',
    title: 'Scripted',
    about: 'Plays a script instead of asking a model, so it needs no key. Its price is simulated.',
    name: 'Script',
    description: 'Plays a script.',
    instructions: '',
    config: {},
    adds: 'Its script answers each message of a person.',
    rules: () => [
      { when: byPeople, steps: [say('Hello {{sender}}, I play a script. You wrote: {{message}}')] },
    ],
  },
  {
    id: 'remote',
    title: 'Remote agent',
    about: 'Works elsewhere: in a program of yours that brings its own model and tools.',
    name: 'Remote',
    description: 'Answers people from a program elsewhere.',
    instructions: '',
    config: {},
    adds: 'Smartspace sends each run to your program, and your program posts its answers.',
    rules: () => [],
    isRemote: true,
  },
];

/** The script of an agent from a template, which first joins this space. */
export const scriptOf = ({ rules }: Template, space: SpaceInfo | null): object => ({
  wordDelayMs: 40,
  rules: rules(space),
});

/** The body that creates an agent from a template and the fields of the form, or an error. */
export function newAgentBody(
  template: Template,
  body: Record<string, unknown>,
  space: SpaceInfo | null,
): Record<string, unknown> | string {
  const { config } = template;
  const agent = body.agent as { model: Record<string, unknown>; runtime?: unknown };
  if (isObject(agent.runtime)) {
    const runtime = runtimeWith(agent.runtime);
    if (typeof runtime === 'string') return runtime;
    const remote = { ...config, ...agent, runtime: { type: 'webhook', ...runtime } };
    return { type: 'agent', name: body.name, agent: remote };
  }
  // The form sends no provider if the template has only one.
  const model: Record<string, unknown> = { provider: 'scripted', ...agent.model };
  if (model.provider === 'scripted') model.script ??= scriptOf(template, space);
  return { type: 'agent', name: body.name, agent: { ...config, ...agent, model } };
}
