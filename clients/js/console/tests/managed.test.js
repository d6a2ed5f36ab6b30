// Files that manage agents: their words, and an agent as such a file.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { agentFile, fileWords } = await importSource(`
  export * from './src/studio/agents/agent/agent_file.ts';
  export * from './src/studio/managed/managed_words.ts';
`);

const DESCRIPTION = JSON.parse(
  await readFile(new URL('../../../../docs/reference/openapi.json', import.meta.url), 'utf8'),
);
const MODEL = { provider: 'scripted', name: 'demo' };

/** The file of an agent, with its text as a value. */
function fileOf(config, more = {}) {
  const agent = { id: 'ent_1', type: 'agent', name: 'Ada', externalId: 'ada', ...more };
  const { name, text } = agentFile({ ...agent, agent: config }, DESCRIPTION);
  assert.match(text, /^\{\n  ".*\n\}\n$/s);
  return { ...JSON.parse(text), file: name };
}

test('a file has its project, path and commit in words', () => {
  const cases = [
    [{ project: 'support' }, 'support'],
    [{ project: 'support', path: 'agents/ada.yaml' }, 'support, agents/ada.yaml'],
    [{ project: 'support', path: null, commit: 'v1.2' }, 'support at v1.2'],
    [{ project: 'support', commit: '4f2c9e1' }, 'support at 4f2c9e1'],
    [{ project: 'support', commit: `4f2c9e1${'0'.repeat(33)}-dirty` }, 'support at 4f2c9e1-dirty'],
    [{ project: 'support', path: 'a\u202eb', commit: '\u202e' }, 'support, aU+202Eb at U+202E'],
  ];
  for (const [source, words] of cases) assert.equal(fileWords(source), words);
});

test('a file names what is not the default', () => {
  const defaults = {
    description: '',
    instructions: '',
    paused: false,
    open: false,
    signIn: false,
    model: { ...MODEL, temperature: null, maxOutputTokens: 4096, sees: null, fallback: [] },
    runtime: null,
    loop: { maxSteps: 20, continueOn: 'toolCalls', timeLimit: '30 minutes', remindUnsaid: true },
    context: { window: 50, history: 'timeline' },
    builtins: { messages: true, memories: true, goals: true, plans: true },
    budget: { tokensPerDay: null, costPerDay: null, runsPerMinute: 60 },
    maxChainDepth: 5,
    tools: [],
    mcp: { servers: [] },
    approvals: [],
    webhooks: {},
  };
  const file = { file: 'ada.json', name: 'Ada', model: MODEL };
  assert.deepEqual(fileOf(defaults), file);

  const schema = { type: 'object', properties: { day: { default: null } }, required: [] };
  const execution = { type: 'http', method: 'GET', url: 'https://a.example', timeoutMs: 10000 };
  const tool = { name: 't', description: '', inputSchema: schema, visible: false, execution };
  const changed = {
    ...defaults,
    paused: true,
    model: { ...defaults.model, sees: [], request: { seed: null } },
    loop: { ...defaults.loop, remindUnsaid: false },
    budget: { ...defaults.budget, costPerDay: 0 },
    maxChainDepth: 0,
    tools: [tool],
    approvals: [{ tools: [], action: 'ask', by: 'members', quorum: 2, when: null }],
    webhooks: { ci: { scheme: 'github', secrets: [] } },
  };
  assert.deepEqual(fileOf(changed), {
    ...file,
    paused: true,
    model: { ...MODEL, sees: [], request: { seed: null } },
    loop: { remindUnsaid: false },
    budget: { costPerDay: 0 },
    maxChainDepth: 0,
    // What an execution has by default depends on its type.
    tools: [{ name: 't', description: '', inputSchema: schema, execution }],
    approvals: [{ tools: [], quorum: 2 }],
    webhooks: { ci: { scheme: 'github', secrets: [] } },
  });
});

test('a file names the agent that it is', () => {
  const named = (name, externalId) => {
    const { model, ...more } = fileOf({ model: MODEL }, { name, externalId });
    assert.deepEqual(model, MODEL);
    return more;
  };
  const cases = [
    [['Ada', 'ada.v2'], { file: 'ada.v2.json' }],
    [['Ada Müller!', null], { file: 'ada-muller.json', id: 'ent_1' }],
    [['阿达', null], { file: 'agent.json', id: 'ent_1' }],
    [['Ada', 'a/b'], { file: 'ada.json', externalId: 'a/b' }],
    [['Ada', 'x'.repeat(129)], { file: 'ada.json', externalId: 'x'.repeat(129) }],
    // The name says it already.
    [['A b', 'a-b'], { file: 'a-b.json' }],
  ];
  for (const [[name, externalId], file] of cases)
    assert.deepEqual(named(name, externalId), { name, ...file });
});

test('texts of a file stay what they are', () => {
  const texts = {
    '${secret.KEY}': '${secret.KEY}',
    'Write ${var.NAME}': 'Write $${var.NAME}',
    '$${a} $$${var.b}': '$$${a} $$$${var.b}',
  };
  for (const [instructions, written] of Object.entries(texts))
    assert.equal(fileOf({ model: MODEL, instructions }).instructions, written);
});
