// Runs and filters as the table of runs shows them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const {
  causeOf,
  failedPath,
  filtersOf,
  isRepeatable,
  lengthOf,
  relativeText,
  runsPath,
  shortened,
  stateOf,
  textOf,
  waitingPath,
} = await importSource(`
  export { failedPath, filtersOf, runsPath, waitingPath } from './src/studio/runs/query.ts';
  export * from './src/studio/runs/words.ts';
`);

const NOW = Date.parse('2026-11-25T12:00:00Z');
const MINUTE = 60_000;

test('the filters of the address become a path', () => {
  const pathOf = (query) => runsPath(filtersOf(new URLSearchParams(query)), NOW);
  const hour = encodeURIComponent('2026-11-25T11:00:00.000Z');
  assert.equal(pathOf(''), '/v1/runs');
  assert.equal(pathOf('other=1&since=never'), '/v1/runs');
  assert.equal(
    pathOf('since=hour&agentId=ent_1&status=failed'),
    `/v1/runs?status=failed&agentId=ent_1&since=${hour}`,
  );
  const time = '2026-11-01T00:00:00Z';
  assert.equal(pathOf(`since=${time}`), `/v1/runs?since=${encodeURIComponent(time)}`);
});

test('waiting and failed runs are looked for in a limited time', () => {
  const filters = filtersOf(new URLSearchParams('spaceId=spc_1'));
  const since = (path) => new URLSearchParams(path.split('?')[1]).get('since');
  assert.match(waitingPath(filters, NOW), /status=waiting_tool&spaceId=spc_1/);
  assert.equal(since(waitingPath(filters, NOW)), '2026-11-17T12:00:00.000Z');
  assert.equal(since(failedPath(filters, NOW)), '2026-11-24T12:00:00.000Z');
  assert.equal(since(failedPath({ ...filters, since: 'hour' }, NOW)), '2026-11-25T11:00:00.000Z');
});

test('a state has words and a reason', () => {
  const run = (status, more = {}) => ({ status, endReason: null, error: null, ...more });
  const cases = [
    [run('queued'), 'Waiting to start', null],
    [run('running'), 'Running', null],
    [run('waiting_tool'), 'Waiting for an answer', null],
    [run('completed', { endReason: 'done' }), 'Done', null],
    [
      run('completed', { endReason: 'skipped', reason: 'Not mine.' }),
      'Stayed silent',
      '“Not mine.”',
    ],
    [run('completed', { endReason: 'refusal' }), 'Its model refused', null],
    [run('canceled', { endReason: 'cancel' }), 'Stopped', 'by a person'],
    [run('failed', { error: { code: 'budget', message: 'used up' } }), 'Failed', 'budget: used up'],
  ];
  for (const [given, words, detail] of cases) {
    const state = stateOf(given);
    assert.deepEqual([state.words, state.detail], [words, detail]);
  }
  assert.ok(isRepeatable(run('failed')));
  assert.ok(isRepeatable(run('canceled', { endReason: 'cancel' })));
  assert.ok(!isRepeatable(run('canceled', { endReason: 'superseded' })));
  assert.ok(!isRepeatable(run('failed', { forkOf: { runId: 'run_1', step: 0 } })));
  assert.ok(!isRepeatable(run('completed')));
});

test('a trigger has words', () => {
  const words = (trigger, message = null) => causeOf({ trigger }, message);
  const trigger = { type: 'space_message', messageId: 'm1', seq: 1, source: 'mention' };
  const message = { sender: { name: 'Omar' }, parts: [{ type: 'text', text: 'Do\n it' }] };
  assert.equal(words(trigger), 'Message #1');
  assert.equal(words(trigger, message), 'Omar');
  const guest = { ...message, sender: { name: 'Omar', guest: true } };
  assert.equal(words(trigger, guest), 'Omar (guest)');
  assert.equal(textOf(message), 'Do it');
  assert.equal(words({ type: 'plan', planId: 'pln_1' }), 'A plan');
  assert.equal(words({ type: 'service', service: 'ci' }), 'Service ci');
  assert.equal(words({ type: 'plan' }), 'plan');
  assert.equal([...shortened('😀'.repeat(200))].length, 160);
});

test('times and lengths are in words', () => {
  const cases = [
    [-1000, 'just now'],
    [30_000, 'in less than a minute'],
    [-MINUTE, '1 minute ago'],
    [-59 * MINUTE, '59 minutes ago'],
    [-90 * MINUTE, '1 hour ago'],
    [47 * 60 * MINUTE, 'in 47 hours'],
    [-48 * 60 * MINUTE, '2 days ago'],
  ];
  for (const [distance, text] of cases) assert.equal(relativeText(NOW + distance, NOW), text);
  const at = (ms) => new Date(NOW + ms).toISOString();
  assert.equal(lengthOf({ startedAt: null, finishedAt: null }, NOW), null);
  assert.equal(lengthOf({ startedAt: at(-2400), finishedAt: at(0) }, NOW + MINUTE), '2.4 s');
  assert.equal(lengthOf({ startedAt: at(-180 * MINUTE), finishedAt: null }, NOW), '3 hours');
});
