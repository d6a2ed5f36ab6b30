// A run as the drawer shows it: spans, prompts and words.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const {
  changesOf,
  costText,
  callsOf,
  depthWords,
  durationText,
  endWords,
  promptOf,
  questionOf,
  reasonOf,
  sourceWords,
  spansOf,
  statusWords,
  thoughtsOf,
} = await importSource(`
  export { changesOf, callsOf } from './src/why/run_calls.ts';
  export { reasonOf } from './src/why/outcomes.ts';
  export { promptOf } from './src/why/prompt.ts';
  export { spansOf } from './src/why/spans.ts';
  export { thoughtsOf } from './src/why/thinking.ts';
  export {
    costText, depthWords, durationText, endWords, questionOf, sourceWords, statusWords,
  } from './src/why/words.ts';
`);

const at = (ms) => new Date(ms).toISOString();
const call = (callId, status, from, to) => ({
  callId,
  name: callId,
  status,
  startedAt: from === null ? null : at(from),
  finishedAt: to === null ? null : at(to),
});
const step = (index, from, to, calls = [], more = {}) => ({
  index,
  startedAt: at(from),
  finishedAt: to === null ? null : at(to),
  finishReason: to === null ? null : 'stop',
  calls,
  ...more,
});

test('each answer and each call that has begun is a span', () => {
  const steps = [
    step(0, 100, 400, [call('done', 'completed', 150, 160), call('lost', 'unknown', 390, null)]),
    step(1, 400, 500, [], { finishReason: 'error' }),
    step(2, 500, null, [call('waits', 'pending', 520, null), call('later', 'pending', null, null)]),
  ];
  assert.deepEqual(
    spansOf({ steps }).map(({ name, from, to, problem }) => [name, from, to, problem]),
    [
      ['model · step 1', 100, 400, null],
      ['done', 150, 160, null],
      ['lost', 390, null, 'unknown'],
      ['model · step 2', 400, 500, 'the model failed'],
      ['model · step 3', 500, null, null],
      ['waits', 520, null, null],
    ],
  );
  const [refused] = spansOf({ steps: [step(0, 0, 1, [], { finishReason: 'refusal' })] });
  assert.equal(refused.problem, 'the model refused');
  assert.deepEqual(spansOf({}), []);
});

test('a prompt is its texts in order, and what it shares with the one before', () => {
  const prompt = {
    system: ['rules ', 'tools '],
    messages: [{ blocks: ['history ', 7] }, { text: 'now' }, { result: 'no text' }],
  };
  const of = (sharedPrefix) =>
    promptOf({ steps: [{ prompt, sharedPrefix }] }).map(({ text, isKnown }) => [text, isKnown]);
  assert.deepEqual(of(12), [
    ['rules tools ', true],
    ['history now', false],
  ]);
  assert.deepEqual(of(undefined), [['rules tools history now', false]]);
  assert.deepEqual(of(23), [['rules tools history now', true]]);
  assert.deepEqual(promptOf({}), []);
});

test('the question fits what the run did', () => {
  const question = (status, hasSpoken, more = {}) =>
    questionOf({ status, ...more }, 'Ana', hasSpoken);
  assert.equal(question('queued', false), 'Why does Ana wait?');
  assert.equal(question('running', false), 'What is Ana doing?');
  assert.equal(question('waiting_tool', true), 'What does Ana wait for?');
  assert.equal(question('failed', false), 'Why did Ana fail?');
  assert.equal(question('canceled', false), 'Why did Ana stop?');
  assert.equal(question('completed', true), 'Why did Ana speak?');
  assert.equal(question('completed', false), 'Why did Ana stay silent?');
  assert.equal(question('completed', false, { endReason: 'refusal' }), 'Why did Ana not answer?');
  assert.equal(question('completed', true, { endReason: 'refusal' }), 'Why did Ana speak?');
  assert.equal(question('completed', true, { endReason: 'skipped' }), 'Why did Ana stay silent?');
  assert.equal(question('completed', false, { endReason: 'length' }), 'Why did Ana not answer?');
});

test('what woke a run is said in words, with the terms of the API', () => {
  assert.equal(sourceWords('broadcast'), 'everyone is asked here (broadcast)');
  assert.deepEqual([0, 1, 3].map(depthWords), [
    'no agent had answered before (depth 0)',
    'after 1 answer of agents (depth 1)',
    'after 3 answers of agents (depth 3)',
  ]);
});

test('each end of a run has words, and limits are no chosen silence', async () => {
  const description = new URL('../../../../docs/reference/openapi.json', import.meta.url);
  const { schemas } = JSON.parse(await readFile(description, 'utf8')).components;
  for (const endReason of schemas.EndReason.enum)
    assert.match(endWords({ endReason }), /^\w.* \w/, endReason);
  const silent = (reason) => reasonOf({ state: 'silent', reason });
  assert.equal(silent('length'), 'its answer was cut at the limit of tokens');
  assert.equal(silent('done'), null);
  assert.equal(silent('Not mine.'), '“Not mine.”');
});

test('a run whose model has no free place waits for the model', () => {
  const words = (status, live) => statusWords({ status }, live);
  assert.equal(words('running', { waiting: true }), 'waiting for the model');
  assert.equal(words('running', {}), 'running');
  assert.equal(words('running', null), 'running');
  assert.equal(words('completed', { waiting: true }), 'completed');
});

test('the thinking of every provider becomes a text', () => {
  const calls = { 0: { extra_content: { google: { thought_signature: 'sig' } } } };
  const details = [
    { type: 'reasoning.text', text: 'I ' },
    { text: 'greet.', signature: 'sig' },
  ];
  const both = { reasoning: 'I greet.', reasoning_details: details };
  const text = { type: 'text', text: 'I greet.' };
  for (const thinking of [
    { reasoning_content: 'I greet.', calls },
    both,
    { content: [{ type: 'thinking', thinking: [text] }] },
    { blocks: [{ type: 'thinking', thinking: 'I greet.', signature: 'sig' }] },
    { blocks: [{ reasoningContent: { reasoningText: { text: 'I greet.', signature: 'sig' } } }] },
  ])
    assert.equal(thoughtsOf(thinking), 'I greet.', JSON.stringify(thinking));
  const blocks = ['One.', 'Two.'].map((thinking) => ({ type: 'thinking', thinking }));
  assert.equal(thoughtsOf({ blocks }), 'One.\n\nTwo.');
  for (const hidden of [{ blocks: [{ type: 'redacted_thinking', data: 'abc' }] }, { calls }, null])
    assert.equal(thoughtsOf(hidden), '');
});

test('durations and costs have the digits that say something', () => {
  const durations = [0, 384.4, 999, 1000, 59_949, 60_000, 185_400];
  assert.deepEqual(durations.map(durationText), [
    '0 ms',
    '384 ms',
    '999 ms',
    '1.0 s',
    '59.9 s',
    '1 min 0 s',
    '3 min 5 s',
  ]);
  assert.deepEqual([null, 0, 0.000388, 0.0102, 1.5].map(costText), [
    'price unknown',
    '$0',
    '$0.00039',
    '$0.01',
    '$1.50',
  ]);
});

test('the calls of a run are its messages, its reasons for silence, and others', () => {
  const made = (name, input) => ({ callId: `${name} ${JSON.stringify(input)}`, name, input });
  const steps = [
    { index: 0, calls: [made('send_message', { text: 'early' })] },
    {
      index: 1,
      calls: [
        made('send_message', { text: 'later' }),
        made('send_message', 'no JSON'),
        made('skip_response', { reason: 'Not mine.' }),
        made('skip_response', null),
        made('fetch', { city: 'Oslo' }),
      ],
    },
  ];
  assert.deepEqual(
    callsOf({ steps }, 1).map(({ kind, text }) => [kind, text]),
    [
      ['said', 'later'],
      ['called', 'send_message "no JSON"'],
      ['silent', 'Not mine.'],
      ['silent', ''],
      ['called', 'fetch {"city":"Oslo"}'],
    ],
  );
  assert.deepEqual(callsOf({}, 0), []);
});

test('a fork changes what was typed only', () => {
  const of = (model, instructions) => changesOf({ fromStep: 0, model, instructions });
  assert.deepEqual(of('', ' '), {});
  assert.deepEqual(of('', 'Be brief.'), { instructions: 'Be brief.' });
  assert.deepEqual(of(' openai/gpt-5-mini ', ''), {
    model: { provider: 'openai', name: 'gpt-5-mini' },
  });
  assert.deepEqual(of('openai/org/name', '').model, { provider: 'openai', name: 'org/name' });
  for (const wrong of ['gpt', 'openai/', '/gpt']) assert.match(of(wrong, ''), /provider\/model/);
});
