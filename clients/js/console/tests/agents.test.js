// The merge patches of an agent's configuration, what a test of its model answered, and templates.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const {
  answersOf,
  conflictsOf,
  documentIn,
  executionWords,
  freshName,
  kindOf,
  mergePatch,
  modelsIn,
  needsOf,
  newAgentBody,
  newestRuns,
  parametersOf,
  placeWords,
  providerChoices,
  sampleOf,
  secretOf,
  setupPatch,
  withParameters,
  withSecret,
} = await importSource(`
    export { newestRuns } from './src/studio/agents/list/entities.ts';
    export { conflictsOf } from './src/studio/save_form/conflicts.ts';
    export { mergePatch } from './src/studio/save_form/merge_patch.ts';
    export { modelsIn, needsOf, providerChoices } from './src/studio/agents/setup/models.ts';
    export { setupPatch } from './src/studio/agents/setup/setup_body.ts';
    export { newAgentBody } from './src/studio/agents/new_agent/templates.ts';
    export { executionWords, freshName } from './src/studio/agents/tools/tool_words.ts';
    export * from './src/studio/agents/tools/tool_fields.ts';
    export { answersOf } from './src/studio/agents/trial/trial.ts';
  `);
test('a merge patch names what changed, and null for what was removed', () => {
  const cases = [
    [{ a: 1 }, { a: 1 }, {}],
    [{ a: 1 }, { a: 2 }, { a: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }, { b: null }],
    [{ a: null }, {}, {}],
    [{ a: { b: 1, c: 2 } }, { a: { b: 1, d: 3 } }, { a: { c: null, d: 3 } }],
    [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, {}],
    [{ a: [1] }, { a: [1, 2] }, { a: [1, 2] }],
    [{ a: { b: 1 } }, { a: [1] }, { a: [1] }],
    [{ a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }, {}],
    [{}, { a: {} }, { a: {} }],
  ];
  for (const [from, to, patch] of cases) assert.deepEqual(mergePatch(from, to), patch);
});

test('a conflict is a value that another person has changed to something else', () => {
  const cases = [
    [{ a: 1 }, { a: 0 }, { a: 0 }, []],
    [{ a: 1 }, { a: 0 }, { a: 2 }, ['/a']],
    [{ a: 1 }, { a: 0 }, { a: 1 }, []],
    [{ a: 1 }, { a: 0, b: 0 }, { a: 0, b: 5 }, []],
    [{ a: { b: 1 } }, { a: { b: 0, c: 0 } }, { a: { b: 0, c: 2 } }, []],
    [{ a: { b: 1 } }, { a: { b: 0 } }, { a: { b: 2 } }, ['/a/b']],
    [{ a: null }, { a: 0 }, {}, []],
    [{ a: 1 }, {}, { a: null }, []],
    [{ a: { b: 1 } }, {}, { a: { b: 2 } }, ['/a']],
    [{ a: [1, 2] }, { a: [1] }, { a: [1, 3] }, ['/a']],
    [{ 'a/~': 1 }, { 'a/~': 0 }, { 'a/~': 2 }, ['/a~1~0']],
  ];
  for (const [patch, loaded, current, pointers] of cases)
    assert.deepEqual(
      conflictsOf(patch, loaded, current).map(({ pointer }) => pointer),
      pointers,
      JSON.stringify([patch, loaded, current]),
    );
  const [{ detail }] = conflictsOf({ a: 'x' }, { a: 'y' }, { a: 'z'.repeat(500) });
  assert.match(detail, /^Somebody else has changed it to “z{120}…”\.$/);
  assert.equal(
    conflictsOf({ a: 'x' }, { a: 'y' }, {})[0].detail,
    'Somebody else has changed it to nothing.',
  );
});

test('fallback models are one provider/name a line', () => {
  assert.deepEqual(modelsIn(' openai/gpt-5-mini \n\nbedrock/a/b'), [
    { provider: 'openai', name: 'gpt-5-mini' },
    { provider: 'bedrock', name: 'a/b' },
  ]);
  assert.deepEqual(modelsIn(''), []);
  assert.match(modelsIn('gpt-5-mini'), /“gpt-5-mini”/);
});

test('the providers of the operator follow those that exist everywhere', () => {
  const values = (listed, chosen) => providerChoices(listed, chosen).map(({ value }) => value);
  const everywhere = ['anthropic', 'openai', 'bedrock', 'scripted'];
  const groq = { name: 'groq', api: 'openai', host: 'api.groq.test', hasKey: true, own: false };
  assert.deepEqual(values([], ''), everywhere);
  assert.deepEqual(values([{ ...groq, name: 'openai' }, groq], 'groq'), [...everywhere, 'groq']);
  assert.deepEqual(values([], 'gone'), [...everywhere, 'gone']);
  assert.equal(providerChoices([groq], '')[4].text, 'groq, at api.groq.test');
  const missing = { ...groq, name: 'anthropic', own: false, hasKey: false };
  assert.equal(providerChoices([missing], '')[0].text, 'Anthropic · no key here');
  assert.equal(needsOf('anthropic'), 'Smartspace needs ANTHROPIC_API_KEY in its environment.');
  assert.equal(needsOf('anthropic', [{ ...missing, hasKey: true }]), 'Its key is set.');
  assert.equal(providerChoices([{ ...missing, name: 'bedrock' }], '')[2].text, 'Amazon Bedrock');
});

test('the setup removes what was removed from webhooks and scripts', () => {
  const script = { wordDelayMs: 5, rules: [] };
  const config = {
    model: { provider: 'scripted', name: 'demo', script },
    webhooks: { ci: { scheme: 'github', secrets: ['A'] }, cd: { scheme: 'slack', secrets: ['B'] } },
  };
  const patch = (agent) => setupPatch({ agent }, config);
  assert.deepEqual(patch({ webhooks: { cd: config.webhooks.cd } }), {
    agent: { webhooks: { ci: null } },
  });
  assert.deepEqual(patch({ model: { script: { rules: [{}] } } }), {
    agent: { model: { script: { wordDelayMs: null, rules: [{}] } } },
  });
  assert.deepEqual(patch({ model: { provider: 'openai' } }), {
    agent: { model: { provider: 'openai', script: null } },
  });
  assert.deepEqual(patch({ model: { fallback: 'openai/a' } }), {
    agent: { model: { fallback: [{ provider: 'openai', name: 'a' }] } },
  });
  assert.equal(typeof patch({ model: { fallback: 'a' } }), 'string');
  assert.deepEqual(setupPatch({ name: 'Ana' }, config), { name: 'Ana' });
});

test('a test shows what was said, or else why nothing was', () => {
  const run = (more) => ({ status: 'completed', error: null, steps: [], ...more });
  const step = (text, ...calls) => ({
    index: 0,
    text,
    calls: calls.map(([name, input]) => ({ callId: name, name, input })),
  });
  const labels = (more) => answersOf(run(more)).map(({ label, text }) => [label, text]);
  assert.deepEqual(labels({ steps: [step('think', ['send_message', { text: 'Hi' }])] }), [
    ['It said', 'Hi'],
  ]);
  assert.deepEqual(labels({ steps: [step('', ['skip_response', { reason: 'no' }])] }), [
    ['It stayed silent', 'no'],
  ]);
  assert.deepEqual(labels({ steps: [step('Only a thought')] }), [
    ['It said nothing, but wrote for itself', 'Only a thought'],
  ]);
  assert.deepEqual(labels({ status: 'failed', error: { code: 'no_key', message: 'No key' } }), [
    ['It failed', 'No key (no_key)'],
  ]);
  assert.equal(labels({ status: 'waiting_tool' })[0][0], 'It waits');
  assert.deepEqual(labels({}), [['It said nothing', '']]);
});

test('tools are described in words', () => {
  const words = [
    [{ type: 'space', ui: 'buttons', answerBy: 'humans' }, 'Asks people with buttons'],
    [{ type: 'space', ui: 'form', answerBy: ['ent_1'] }, 'Asks one member with a form'],
    [
      { type: 'space', ui: 'map', answerBy: 'anyone' },
      'Asks people and agents with the component “map”',
    ],
    [{ type: 'http', method: 'GET', url: 'https://a.b' }, 'Calls GET https://a.b'],
    [
      { type: 'image', provider: 'openai', model: 'm', size: '64x64' },
      'Draws pictures of 64x64 pixels with openai/m',
    ],
    [{ type: 'compute', expression: '1 + 1' }, 'Computes 1 + 1'],
    [{ type: 'static', output: 1 }, 'Always returns the same result'],
  ];
  for (const [execution, text] of words) assert.equal(executionWords(execution), text);
  assert.equal(freshName('ask', []), 'ask');
  assert.equal(freshName('ask', ['ask', 'ask2']), 'ask3');
});

test('the first run of each agent is its newest one', () => {
  const runs = [
    { id: 'c', agentId: 'x' },
    { id: 'b', agentId: 'y' },
    { id: 'a', agentId: 'x' },
  ];
  const newest = [...newestRuns(runs)].map(([agentId, { id }]) => [agentId, id]);
  assert.deepEqual(newest, [
    ['x', 'c'],
    ['y', 'b'],
  ]);
});

test('only a scripted agent gets a script', () => {
  const template = { config: { open: true }, rules: () => [{ steps: [] }] };
  const made = (provider) =>
    newAgentBody(template, { name: 'A', agent: { model: { provider, name: 'm' } } }, null).agent;
  assert.deepEqual(made('openai'), {
    open: true,
    model: { provider: 'openai', name: 'm' },
  });
  assert.deepEqual(made('scripted').model.script.rules, [{ steps: [] }]);
});

test('the form of a tool reads its document and keeps what it does not know', () => {
  const inputSchema = {
    type: 'object',
    properties: {
      order: { type: 'integer', description: 'Four digits' },
      note: { type: 'string' },
    },
    required: ['order'],
    additionalProperties: false,
  };
  const headers = { Accept: 'text/plain', Authorization: 'Bearer ${secret.KEY_1}' };
  const tool = { name: 't', visible: true, inputSchema, execution: { type: 'http', headers } };
  const parameters = [
    { name: 'order', type: 'integer', description: 'Four digits', isRequired: true },
    { name: 'note', type: 'string', description: '', isRequired: false },
  ];
  assert.equal(kindOf(tool), 'http');
  assert.equal(kindOf({ execution: { type: 'space' } }), null);
  assert.deepEqual(parametersOf(tool), parameters);
  assert.deepEqual(withParameters(tool, parameters), tool);
  assert.deepEqual(sampleOf(tool), { order: 1, note: 'text' });
  // A schema that says more is left to the JSON.
  // A type that is none is left to the person, who chooses one.
  const mistyped = { ...inputSchema, properties: { order: { type: 'strng' } } };
  assert.deepEqual(parametersOf({ inputSchema: mistyped }), [
    { name: 'order', type: 'strng', description: '', isRequired: true },
  ]);
  const limited = { ...inputSchema, properties: { order: { type: 'integer', minimum: 1 } } };
  const list = { ...inputSchema, properties: { order: { type: 'array' } } };
  for (const wrong of [limited, list, true, { type: 'array' }])
    assert.equal(parametersOf({ inputSchema: wrong }), null);

  assert.equal(secretOf(tool), 'KEY_1');
  assert.deepEqual(withSecret(tool, 'KEY_2').execution.headers, {
    Accept: 'text/plain',
    Authorization: 'Bearer ${secret.KEY_2}',
  });
  const bare = { execution: { type: 'http', headers: { Authorization: 'Basic x' } } };
  assert.equal(secretOf(bare), '');
  assert.deepEqual(withSecret(bare, ''), { execution: { type: 'http' } });
  assert.deepEqual(documentIn('{"a":1}'), { a: 1 });
  for (const text of ['', '[]', 'null', '{']) assert.equal(documentIn(text), null);
});

test('a fault of a tool names the tool and its field', () => {
  const tools = [{ name: 'get_order' }];
  assert.equal(placeWords('/0/execution', tools), 'Tool “get_order”, What it does');
  assert.equal(placeWords('/0/execution/url', tools), 'Tool “get_order”, Address');
  assert.equal(placeWords('/1/inputSchema/properties', tools), 'Parameters › properties');
  assert.equal(placeWords('/0', tools), 'Tool “get_order”');
});
