// The lines of a timeline: repeated failures, answers, and folded calls.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { foldedText, lineText, linesOf, resultText } = await importSource(`
  export { foldedText } from './src/talk/folded_cards.tsx';
  export { resultText } from './src/forms/card/details.tsx';
  export { lineText } from './src/talk/system_line.tsx';
  export { linesOf } from './src/page/timeline/bubbles.ts';
`);

const human = (id) => ({ id, name: id, type: 'human' });
const agent = (id) => ({ id, name: id, type: 'agent' });
const at = (second) => new Date(Date.UTC(2026, 4, 1, 10, 0, second)).toISOString();

/** A message, sent in the second of its seq. */
const message = (seq, sender, more = {}) => ({
  type: 'message',
  key: `m${seq}`,
  message: {
    id: `m${seq}`,
    seq,
    sender,
    createdAt: at(seq),
    parts: [{ type: 'text', text: `text ${seq}` }],
    ...more,
  },
});
const asks = (seq, ...runIds) =>
  message(seq, human('omar'), { dispatch: runIds.map((runId) => ({ agentId: 'ana', runId })) });
const answer = (seq, runId) => message(seq, agent('ana'), { runId });
const failed = (second, agentId, code = 'not_configured') => ({
  type: 'failed',
  key: `failed ${second}`,
  run: { id: `run ${second}`, agentId, error: { code, message: '' }, createdAt: at(second) },
});
const card = (seq, name, more = {}) =>
  message(seq, agent('ana'), {
    runId: 'r',
    parts: [{ type: 'tool', name, status: 'completed', ui: null, output: null, ...more }],
  });

const lines = (...items) => linesOf(items, { nameOf: (id) => id, meId: null });
const entriesOf = (...items) => lines(...items).flatMap(({ entries }) => entries);

test('a failure that repeats is one line, where it happened last', () => {
  const found = entriesOf(failed(1, 'bot'), asks(2), failed(3, 'bot'), failed(4, 'bot'));
  assert.deepEqual(
    found.map(({ key, count, since }) => [key, count, since]),
    [
      ['m2', undefined, undefined],
      ['failed 4', 3, Date.parse(at(1))],
    ],
  );
});

test('a failure of another agent, of another kind, or after an answer is another line', () => {
  const counts = (...items) => entriesOf(...items).map(({ count }) => count);
  assert.deepEqual(counts(failed(1, 'bot'), failed(2, 'ana')), [1, 1]);
  assert.deepEqual(counts(failed(1, 'bot'), failed(2, 'bot', 'budget')), [1, 1]);
  const between = message(2, agent('bot'), { runId: 'r' });
  assert.deepEqual(counts(failed(1, 'bot'), between, failed(3, 'bot')), [1, undefined, 1]);
});

test('an answer knows its trigger, and whether that stands right above', () => {
  const found = lines(asks(1, 'r1'), asks(2, 'r2'), answer(3, 'r1'), answer(4, 'r2'));
  assert.deepEqual(
    found.map(({ trigger, isBelowTrigger }) => [trigger?.seq, isBelowTrigger]),
    [
      [undefined, false],
      [1, false],
      [2, false],
    ],
  );
  const [, below] = lines(asks(1, 'r1'), answer(2, 'r1'));
  assert.deepEqual([below.trigger.seq, below.isBelowTrigger], [1, true]);
});

test('ended calls of one tool are one entry, and a form never is in it', () => {
  const form = { ui: 'form', status: 'pending' };
  const found = entriesOf(
    card(1, 'get_status'),
    card(2, 'restart', form),
    card(3, 'get_status'),
    card(4, 'other'),
    card(5, 'get_status'),
  );
  assert.deepEqual(
    found.map(({ key, folded }) => [key, folded?.map(({ seq }) => seq)]),
    [
      ['m1', [1, 3, 5]],
      ['m2', undefined],
      ['m4', undefined],
    ],
  );
  // The bar and the address are those of the last one.
  assert.equal(found[0].message.seq, 5);
});

test('calls of another run, and those that people approve, stand alone', () => {
  const approved = { approval: { state: 'approved' } };
  assert.equal(entriesOf(card(1, 'deploy', approved), card(2, 'deploy', approved)).length, 2);
  const other = card(2, 'poll');
  other.message.runId = 'another';
  assert.equal(entriesOf(card(1, 'poll'), other).length, 2);
});

test('a row of calls says how many there are and what came of the last one', () => {
  const calls = Array(20).fill({ status: 'completed' });
  assert.equal(
    foldedText(calls, 'running', 41_000),
    '× 20 · all completed · last: running · 41.0 s',
  );
  assert.equal(
    foldedText([{ status: 'failed' }, { status: 'completed' }], '', 10),
    '× 2 · 1 failed, 1 completed',
  );
});

test('the result of a call is in words', () => {
  const result = (output, more = {}) => resultText({ ui: null, output, ...more });
  assert.equal(result('running'), 'running');
  assert.equal(result({ state: 'up', nodes: 3 }), 'state: up, nodes: 3');
  assert.equal(result({ nodes: [1] }), '{"nodes":[1]}');
  assert.equal(
    result({ state: 'up' }, { title: 'Order 4711 is shipped' }),
    'Order 4711 is shipped',
  );
  assert.equal(result(null), '');
});

test('a change of the space stands after the message that was the newest', () => {
  const change = (id, afterSeq) => ({ id, afterSeq, at: at(9), by: null, kind: 'paused' });
  const keys = (items, ...changes) =>
    linesOf(items, { nameOf: (id) => id, meId: null }, changes).map(({ key }) => key);
  const items = [asks(5), answer(6, 'r1'), asks(7)];
  // Those of earlier pages wait for them.
  const changes = [change('old', 3), change('a', 4), change('b', 6), change('c', 7)];
  assert.deepEqual(keys(items, ...changes), ['a', 'm5', 'm6', 'b', 'm7', 'c']);
  assert.deepEqual(keys([], change('first', 0)), ['first']);
});

test('a change of the space says who changed what', () => {
  const omar = human('omar');
  const text = (kind, more) => lineText({ at: at(1), by: omar, kind, ...more });
  assert.equal(text('joined', { member: omar }), 'omar joined');
  assert.equal(text('joined', { member: human('kim') }), 'omar added kim');
  assert.equal(text('left', { by: null, member: omar }), 'The operator removed omar');
  assert.equal(text('renamed', { from: 'A', to: 'B' }), 'omar renamed the space from A to B');
  assert.equal(text('policyChanged', { to: 'mention' }), 'omar changed who is asked: named agents');
  assert.equal(text('chainStopped', { seq: 7 }), 'omar stopped the chain of message 7');
  assert.equal(text('stopped'), 'omar stopped all agents and paused the space');
});
