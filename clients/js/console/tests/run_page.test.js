// A run as its page shows it: prompts by block, JSON as rows, the waterfall's waits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const {
  aboutPromptFile,
  blocksBefore,
  blocksOf,
  filesOf,
  partsOf,
  postedTexts,
  queueOf,
  rowsOf,
  jsonText,
  spansOf,
} = await importSource(`
  export { partsOf } from './src/studio/run/prompt_parts.ts';
  export { postedTexts } from './src/studio/run/sent_texts.ts';
  export { blocksBefore, blocksOf } from './src/why/prompt.ts';
  export { queueOf, spansOf } from './src/why/spans.ts';
  export { jsonText, rowsOf } from './src/studio/run/json_rows.ts';
  export { aboutPromptFile, filesOf } from './src/studio/run/prompt_files.tsx';
`);

const first = {
  index: 0,
  sharedPrefix: 8,
  systemMessages: [{ watcher: 'start', text: 'Be quick.' }],
  prompt: {
    system: ['rules '],
    messages: [
      { role: 'user', blocks: ['history ', 'now'] },
      { role: 'system', text: 'Be quick.' },
    ],
  },
};
const second = {
  index: 1,
  systemMessages: [],
  prompt: {
    system: [],
    messages: [
      { role: 'assistant', text: 'Hm.', calls: [{ name: 'look', input: '{"at":1}' }] },
      { role: 'tool_results', results: [{ callId: 'c', output: { rows: [1] } }] },
      { role: 'odd', text: 'x' },
      null,
    ],
  },
};
const shown = (blocks) =>
  blocks.map(({ title, pieces }) => [title, ...pieces.map(({ text, isKnown }) => [text, isKnown])]);

test('a prompt is shown by its authors, and its known text by the run before', () => {
  assert.deepEqual(shown(blocksOf(first)), [
    ['System', ['rules ', true]],
    ['User', ['hi', true], ['story now', false]],
    ['Watcher “start”', ['Be quick.', false]],
  ]);
  assert.deepEqual(shown(blocksOf(second)), [
    ['The model’s answer', ['Hm.\nlook {"at":1}', false]],
    ['Results of tools', ['{"rows":[1]}', false]],
    ['odd', ['x', false]],
  ]);
  assert.deepEqual(shown(blocksBefore([first, second], 1)), shown(blocksOf(first)));
  assert.deepEqual(blocksBefore([first, second], 0), []);
});

test('a prompt is folded by the lines that name its parts', () => {
  const known = {
    text: 'INSTRUCTIONS:\n- Be TRUE: always.\nSPACE HISTORY "A":\n#1 ',
    isKnown: true,
  };
  const added = { text: 'Hi\nTRIGGER: message #1\n"OK: go"\n', isKnown: false };
  assert.deepEqual(
    partsOf([known, added]).map(({ name, excerpt, pieces }) => [name, excerpt, pieces.length]),
    [
      ['Instructions', '- Be TRUE: always.', 1],
      ['Space history', '"A": #1 Hi', 2],
      ['Trigger', 'message #1 "OK: go"', 1],
    ],
  );
  assert.deepEqual(partsOf([{ text: 'It is blue.', isKnown: false }]), [
    { name: null, excerpt: 'It is blue.', pieces: [{ text: 'It is blue.', isKnown: false }] },
  ]);
});

test('the texts that a run has posted are those of its calls', () => {
  const call = (name, input, status = 'completed') => ({ name, input, status });
  const calls = [
    call('send_message', { text: 'One' }),
    call('send_message', { text: 'Two' }, 'failed'),
    call('get_memories', { text: 'Three' }),
    call('send_message', null),
  ];
  assert.deepEqual(postedTexts([{ calls }, { calls: [] }]), ['One']);
});

test('the files of a prompt have a line each, with the message they come from', () => {
  const plan = { name: 'plan.pdf', contentType: 'application/pdf', bytes: 1536 };
  const files = [
    { ...plan, label: '#17 [file #1 "plan.pdf" (application/pdf, 2 KB) att_1]' },
    { ...plan, label: 'plan.pdf of #3' },
  ];
  const step = { prompt: { system: [], messages: [null, { role: 'files', files }] } };
  assert.deepEqual(filesOf([first, step, second]), files);
  assert.deepEqual(files.map(aboutPromptFile), ['PDF, 1.5 KB · message #17', 'PDF, 1.5 KB']);
});

test('flat JSON has rows, other JSON has none', () => {
  assert.deepEqual(rowsOf({ a: 'x', b: 1, c: null, d: false }), [
    ['a', 'x'],
    ['b', '1'],
    ['c', 'null'],
    ['d', 'false'],
  ]);
  for (const other of [{}, { a: {} }, { a: [] }, [1], 'text', 7, null])
    assert.equal(rowsOf(other), null);
  assert.equal(jsonText('text'), 'text');
  assert.equal(jsonText({ a: [1] }), '{\n  "a": [\n    1\n  ]\n}');
});

test('the queue, forms and later attempts show in the waterfall', () => {
  const at = (ms) => new Date(ms).toISOString();
  const run = { createdAt: at(0), startedAt: at(50), finishedAt: null };
  assert.deepEqual(
    queueOf(run).map(({ from, to }) => [from, to]),
    [[0, 50]],
  );
  assert.equal(queueOf({ ...run, startedAt: null })[0].to, null);
  assert.deepEqual(queueOf({ ...run, startedAt: at(0) }), []);
  const call = { callId: 'c', name: 'ask', status: 'pending', startedAt: at(70), finishedAt: null };
  const steps = [
    {
      index: 0,
      attempt: 2,
      startedAt: at(50),
      finishedAt: at(60),
      finishReason: 'stop',
      calls: [call],
    },
  ];
  assert.deepEqual(
    spansOf({ steps }, new Set(['ask'])).map(({ kind, name, step }) => [kind, name, step]),
    [
      ['model', 'model · step 1 · attempt 2', 0],
      ['wait', 'ask · waits for people', 0],
    ],
  );
});
