// The tools of an agent in words, and documents for new ones. Pure.

import type { Schemas } from '@smartspace/client';

type Tool = Schemas['Tool'];
type Execution = Schemas['Execution'];

/** The groups of built-in tools that a configuration can turn off. */
export const GROUPS: readonly {
  group: keyof Schemas['Builtins'];
  label: string;
  tools: string;
}[] = [
  { group: 'messages', label: 'Messages', tools: 'react, edit_message' },
  { group: 'memories', label: 'Memories', tools: 'set_memories, get_memories, delete_memories' },
  { group: 'goals', label: 'Goals', tools: 'set_goals, get_goals, delete_goals' },
  { group: 'plans', label: 'Plans', tools: 'set_plans, get_plans, delete_plans' },
  { group: 'runs', label: 'Its other runs', tools: 'get_my_runs, stop_run, absorb_run' },
  {
    group: 'search',
    label: 'Search',
    tools: 'search_messages, if one of its spaces has more messages than its context',
  },
  {
    group: 'delegate',
    label: 'Delegate',
    tools: 'delegate, which only the admin agents of spaces have',
  },
];

/** The effect of a call. */
export function executionWords(execution: Execution): string {
  switch (execution.type) {
    case 'space':
      return `Asks ${answererWords(execution.answerBy)} with ${uiWords(execution.ui)}`;
    case 'http':
      return `Calls ${execution.method} ${execution.url}`;
    case 'image':
      return `Draws pictures of ${execution.size} pixels with ${drawerWords(execution)}`;
    case 'compute':
      return `Computes ${execution.expression}`;
    case 'static':
      return 'Always returns the same result';
  }
}

function drawerWords({ provider, model }: Extract<Execution, { type: 'image' }>): string {
  return model ? `${provider}/${model}` : provider;
}

function answererWords(answerBy: Schemas['AnswerBy']): string {
  if (answerBy === 'humans') return 'people';
  if (answerBy === 'anyone') return 'people and agents';
  return answerBy.length === 1 ? 'one member' : `${answerBy.length} members`;
}

function uiWords(ui: string): string {
  if (ui === 'form') return 'a form';
  return ui === 'buttons' ? 'buttons' : `the component “${ui}”`;
}

/** The properties of a tool that differ from the default. */
export function traitsOf({ visible, readOnly, idempotent, execution }: Tool): string[] {
  const isShown = visible || execution.type === 'space' || execution.type === 'image';
  return [
    isShown ? 'shown in the space' : '',
    readOnly ? 'changes nothing' : '',
    idempotent ? 'may be repeated' : '',
  ].filter(Boolean);
}

/** The name, with a number if another document has it. */
export function freshName(name: string, taken: readonly string[]): string {
  let fresh = name;
  for (let n = 2; taken.includes(fresh); n += 1) fresh = `${name}${n}`;
  return fresh;
}

/** A document for something new. */
export interface Draft {
  /** The text of the button that adds it. */
  label: string;
  document: { name: string } & Record<string, unknown>;
}

/** Documents for new tools. */
export const TOOL_DRAFTS: readonly [Draft, ...Draft[]] = [
  {
    label: 'Add buttons',
    document: {
      name: 'askForApproval',
      description: 'Asks people to approve or reject something. Waits for their choice.',
      inputSchema: {
        type: 'object',
        properties: {
          message: { type: 'string' },
          options: { type: 'array', items: { type: 'string' }, minItems: 1 },
        },
        required: ['message', 'options'],
      },
      execution: { type: 'space', ui: 'buttons', expiresAfter: '1 day', answerBy: 'humans' },
    },
  },
  {
    label: 'Add a form',
    document: {
      name: 'askForAmount',
      description: 'Asks people how much a purchase may cost.',
      inputSchema: {
        type: 'object',
        properties: { title: { type: 'string' } },
        required: ['title'],
      },
      execution: {
        type: 'space',
        expiresAfter: '2 days',
        resultSchema: {
          type: 'object',
          properties: {
            amount: { type: 'integer', minimum: 1, title: 'Euros' },
            reason: { type: 'string', title: 'Reason' },
          },
          required: ['amount'],
        },
      },
    },
  },
  {
    label: 'Add an HTTP call',
    document: {
      name: 'fetchWeather',
      description: 'Returns the weather of a city.',
      inputSchema: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      },
      readOnly: true,
      idempotent: true,
      visible: true,
      execution: {
        type: 'http',
        method: 'GET',
        url: 'https://api.example.com/weather?city={{input.city}}',
      },
    },
  },
  {
    label: 'Add a computation',
    document: {
      name: 'addTax',
      description: 'Adds the tax to a price.',
      inputSchema: {
        type: 'object',
        properties: { price: { type: 'number' } },
        required: ['price'],
        additionalProperties: false,
      },
      execution: { type: 'compute', expression: 'input.price * 1.19' },
    },
  },
  {
    label: 'Add a constant',
    document: {
      name: 'officeHours',
      description: 'Says when the office is open.',
      execution: { type: 'static', output: 'Monday to Friday, 9 to 17.' },
    },
  },
  {
    label: 'Add pictures',
    document: {
      name: 'draw',
      description: 'Draws a picture.',
      execution: { type: 'image', provider: 'openai', model: 'gpt-image-1', size: '1024x1024' },
    },
  },
];

/** Documents for new MCP servers. */
export const SERVER_DRAFTS: readonly Draft[] = [
  {
    label: 'Add an MCP server',
    document: {
      name: 'docs',
      url: 'https://mcp.example.com/mcp',
      allowedTools: ['search'],
    },
  },
];
