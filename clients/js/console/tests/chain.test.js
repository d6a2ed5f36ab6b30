// A chain of messages and runs as a tree.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { chainSpans, endingsOf, isGoing, nodesOf, startOf, treeOf } = await importSource(`
  export { chainSpans } from './src/why/chain_spans.ts';
  export { nodesOf, startOf, treeOf } from './src/why/chain_tree.ts';
  export { endingsOf, isGoing } from './src/why/chain_words.ts';
`);

const usage = (cost) => ({ inputTokens: 1, outputTokens: 1, cost });
const woke = (messageId, more = {}) => ({ type: 'space_message', messageId, ...more });

/** A message of a run, or of a person, that woke these runs: `{Ana: 'r1'}`. */
const message = (id, runId, woken = {}, refused = {}) => ({
  id,
  runId,
  seq: 1,
  chainDepth: 0,
  origin: null,
  sender: { id: 'someone', name: 'Someone' },
  parts: [{ type: 'text', text: id }],
  dispatch: [
    ...Object.entries(woken).map(([agentId, each]) => ({ agentId, runId: each })),
    ...Object.entries(refused).map(([agentId, reason]) => ({ agentId, runId: null, reason })),
  ],
});
const run = (id, agentId, messageId, more = {}) => ({
  id,
  agentId,
  status: 'completed',
  endReason: 'done',
  chainDepth: 0,
  finishedAt: '2026-02-18T15:07:00.000Z',
  trigger: messageId === null ? { type: 'plan' } : woke(messageId),
  usage: usage(1),
  error: null,
  ...more,
});
const dataOf = (messages, runs) => ({
  messages,
  runs: new Map(runs.map((each) => [each.id, each])),
});

/** The tree as nested lists of ids. */
const shape = (node) => [
  node.type === 'message' ? node.message.id : node.runId,
  ...node.children.map(shape),
];
const treeFor = (data, runId) => treeOf(data, startOf(data, runId));

test('three agents answer each other until the chain is too deep', () => {
  const data = dataOf(
    [
      message('m1', null, { Ana: 'r1', Cleo: 'r2' }),
      message('m2', 'r1', { Ben: 'r3' }),
      message('m3', 'r3', {}, { Ana: 'chain_depth', Cleo: 'chain_depth' }),
    ],
    [
      run('r1', 'Ana', 'm1'),
      run('r2', 'Cleo', 'm1', { status: 'failed', endReason: null, error: { message: 'No key.' } }),
      run('r3', 'Ben', 'm2'),
    ],
  );
  for (const runId of ['r1', 'r2', 'r3']) {
    const tree = treeFor(data, runId);
    assert.deepEqual(shape(tree), ['m1', ['r1', ['m2', ['r3', ['m3']]]], ['r2']]);
    assert.equal(tree.cost, 3);
    assert.equal(tree.children[0].cost, 2);
    assert.equal(isGoing(tree), false);
    // Only the operator reads why a run has failed.
    for (const [isOperator, words] of [
      [true, 'failed: No key.'],
      [false, 'cannot answer at the moment'],
    ])
      assert.deepEqual(endingsOf(tree, isOperator), [
        { words: 'not woken: chain depth reached', agentIds: ['Ana', 'Cleo'] },
        { words, agentIds: ['Cleo'] },
      ]);
  }
});

test('a run that joined another one, one that was repeated, and one that was handed on', () => {
  const data = dataOf(
    [message('m1', null, { Ana: 'r1', Ben: 'r2', Cleo: 'r3' }), message('m2', 'r5', {})],
    [
      run('r1', 'Ana', 'm1', { status: 'canceled', endReason: 'coalesced', intoRunId: 'r9' }),
      run('r2', 'Ben', 'm1', { status: 'failed', endReason: null }),
      run('r3', 'Cleo', 'm1', { endReason: 'delegated' }),
      run('r4', 'Ben', 'm1', {
        retryOf: 'r2',
        status: 'running',
        endReason: null,
        finishedAt: null,
      }),
      run('r5', 'Dora', 'm1', { trigger: woke('m1', { delegatedBy: { id: 'Cleo' } }) }),
      run('fork', 'Ben', 'm1', { forkOf: { runId: 'r2', step: 0 } }),
    ],
  );
  const tree = treeFor(data, 'r5');
  assert.deepEqual(shape(tree), ['m1', ['r1'], ['r2', ['r4']], ['r3', ['r5', ['m2']]]]);
  assert.equal(isGoing(tree), true);
  assert.deepEqual(endingsOf(tree, true), [
    { words: 'stopped: another run answers its message, too', agentIds: ['Ana'] },
    { words: 'running: still going', agentIds: ['Ben'] },
  ]);
});

test('a chain without its beginning starts at the first run that is known', () => {
  const data = dataOf([message('m2', 'r1', { Ben: 'r2' })], [run('r2', 'Ben', 'm2')]);
  const start = startOf(data, 'r2');
  assert.deepEqual(start, { runId: 'r1', isMissing: true });
  assert.deepEqual(shape(treeOf(data, start)), ['r1', ['m2', ['r2']]]);
  // A message says as well why its run was started.
  data.messages.unshift(message('m1', null, { Ana: 'r1' }));
  data.messages[1].origin = woke('m1');
  assert.deepEqual(shape(treeFor(data, 'r2')), ['m1', ['r1', ['m2', ['r2']]]]);
});

test('a plan begins a chain', () => {
  const data = dataOf([message('m1', 'r1', {})], [run('r1', 'Ana', null)]);
  assert.deepEqual(startOf(data, 'r1'), { runId: 'r1', isMissing: false });
  assert.deepEqual(shape(treeFor(data, 'r1')), ['r1', ['m1']]);
});

test('data that runs in circles makes a tree all the same', () => {
  const data = dataOf(
    [message('m1', 'r2', { Ana: 'r1', Ben: 'r2' }), message('m2', 'r1', { Ben: 'r2', Ana: 'r1' })],
    [run('r1', 'Ana', 'm1', { retryOf: 'r1' }), run('r2', 'Ben', 'm2', { retryOf: 'r1' })],
  );
  for (const runId of ['r1', 'r2', 'unknown']) {
    const ids = nodesOf(treeFor(data, runId)).map((node) => shape(node)[0]);
    assert.equal(new Set(ids).size, ids.length);
  }
  const messages = [];
  const runs = [];
  for (let index = 0; index < 2000; index += 1) {
    messages.push(message(`m${index}`, `r${index}`, { Ana: `r${index + 1}` }));
    runs.push(run(`r${index}`, 'Ana', `m${index - 1}`));
  }
  assert.ok(nodesOf(treeFor(dataOf(messages, runs), 'r1999')).length < 200);
});

test('the runs of a chain are spans, each below the run that woke it', () => {
  const at = (second) => `2026-02-18T15:07:0${second}.000Z`;
  const times = (from, to) => ({ createdAt: at(0), startedAt: at(from), finishedAt: to && at(to) });
  const data = dataOf(
    [message('m1', null, { Ana: 'r1', Cleo: 'r2' }), message('m2', 'r1', { Ben: 'r3' })],
    [
      run('r1', 'Ana', 'm1', times(1, 2)),
      run('r2', 'Cleo', 'm1', { ...times(1, null), status: 'running' }),
      run('r3', 'Ben', 'm2', times(3, 5)),
    ],
  );
  const start = Date.parse(at(0));
  assert.deepEqual(
    chainSpans(treeFor(data, 'r3')).map(({ runId, level, from, to }) => [
      runId,
      level,
      from - start,
      to && to - start,
    ]),
    [
      ['r1', 0, 1000, 2000],
      ['r3', 1, 3000, 5000],
      ['r2', 0, 1000, null],
    ],
  );
});
