// Runs and filters as the table of runs shows them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const {
  causeOf,
  agentsOf,
  changeText,
  costsOf,
  costsPath,
  countsOf,
  failedPath,
  filtersOf,
  groupsOf,
  indexOf,
  isRepeatable,
  lengthOf,
  outcomeOf,
  rangesOf,
  relativeText,
  runsPath,
  sorted,
  stateOf,
  storyOf,
  sumsOf,
  viewOf,
  waitingPath,
} = await importSource(`
  export { failedPath, filtersOf, runsPath, viewOf, waitingPath } from './src/studio/runs/query.ts';
  export * from './src/studio/runs/chains.ts';
  export * from './src/studio/usage/costs.ts';
  export * from './src/studio/runs/listed.ts';
  export { indexOf, rangesOf } from './src/studio/runs/run_messages.ts';
  export * from './src/studio/runs/words.ts';
`);

const NOW = Date.parse('2026-11-25T12:00:00Z');
const MINUTE = 60_000;

test('the filters of the address become a path', () => {
  const pathOf = (query) => runsPath(filtersOf(new URLSearchParams(query)), NOW);
  const hour = encodeURIComponent('2026-11-25T11:00:00.000Z');
  const all = '/v1/runs?messages=true';
  assert.equal(pathOf(''), all);
  assert.equal(pathOf('other=1&since=never'), all);
  assert.equal(
    pathOf('since=hour&agentId=ent_1&status=failed'),
    `${all}&status=failed&agentId=ent_1&since=${hour}`,
  );
  const time = '2026-11-01T00:00:00Z';
  assert.equal(pathOf(`since=${time}`), `${all}&since=${encodeURIComponent(time)}`);
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
    [run('waiting_tool'), 'Waiting', null],
    [run('completed', { endReason: 'done' }), 'Done', null],
    [run('completed', { endReason: 'skipped', reason: 'Not mine.' }), 'Silent', '“Not mine.”'],
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

const NONE = indexOf([]);

test('a run that had nothing more to do has spoken or has been silent', () => {
  const done = { id: 'r', status: 'completed', endReason: 'done', error: null };
  assert.equal(stateOf(done).words, 'Done');
  assert.equal(stateOf(done, true).words, 'Spoke');
  assert.equal(stateOf(done, false).words, 'Silent');
  assert.equal(outcomeOf(done, NONE), 'done');
  assert.equal(outcomeOf({ ...done, said: null }, NONE), 'silent');
  assert.equal(outcomeOf({ ...done, said: 'Hi' }, NONE), 'spoke');
  assert.equal(outcomeOf({ ...done, endReason: 'skipped' }, NONE), 'silent');
});

test('a trigger has words', () => {
  const words = (trigger) => causeOf({ trigger });
  const trigger = { type: 'space_message', messageId: 'm1', seq: 1, source: 'mention' };
  const parts = [{ type: 'text', text: 'Do\n it' }];
  const message = { id: 'm1', seq: 1, runId: null, sender: { name: 'Omar' }, parts };
  const story = (message, more) => storyOf({ id: 'r1', trigger, ...more }, indexOf([message]));
  assert.equal(words(trigger), 'Message #1');
  assert.deepEqual(story(message), { cause: 'Omar', asked: 'Do it', said: null });
  const guest = { ...message, sender: { name: 'Omar', guest: true } };
  assert.equal(story(guest).cause, 'Omar (guest)');
  const long = [{ type: 'text', text: `# Plan\n\n- **v2.1**: ${'😀'.repeat(200)}` }];
  assert.equal(story({ ...message, parts: long }).asked, `Plan • v2.1: ${'😀'.repeat(147)}…`);
  // The list may have the texts itself, and a message that has expired no sender.
  const full = { id: 'r1', trigger, asked: 'Do it', said: 'Done.' };
  assert.deepEqual(storyOf(full, NONE), { cause: 'Message #1', asked: 'Do it', said: 'Done.' });
  assert.equal(storyOf({ ...full, askedBy: guest.sender }, NONE).cause, 'Omar (guest)');
  assert.equal(words({ type: 'plan', planId: 'pln_1' }), 'A plan');
  assert.equal(words({ type: 'service', service: 'ci' }), 'Service ci');
  assert.equal(words({ type: 'plan' }), 'plan');
});

/** A run that a message triggers, and the message that it posts. */
function link(n, more = {}) {
  const at = (ms) => new Date(NOW + ms).toISOString();
  const createdAt = at(1000 * n);
  const trigger = { type: 'space_message', messageId: `m${n}`, seq: n, source: 'broadcast' };
  const times = { createdAt, startedAt: createdAt, finishedAt: at(1000 * n + 500) };
  const usage = { inputTokens: 10, outputTokens: 1, cost: 0.5 };
  const run = { id: `r${n}`, agentId: `a${n % 2}`, trigger, chainDepth: n - 1, stepCount: 2 };
  const state = { status: 'completed', endReason: 'done', activeSpaceId: 's', usage };
  return { ...run, ...times, ...state, ...more };
}

const post = (n, more = {}) => ({
  id: `m${n}`,
  seq: n,
  runId: n === 1 ? null : `r${n - 1}`,
  sender: { name: 'Ana' },
  parts: [{ type: 'text', text: `Words ${n}` }],
  origin: n === 1 ? null : { messageId: `m${n - 1}` },
  ...more,
});

test('the runs of a chain are one group, also if a run between them is not listed', () => {
  const messages = indexOf([1, 2, 3, 4].map((n) => post(n)));
  const other = link(9, { id: 'r9' });
  const plan = { ...link(8), id: 'r8', trigger: { type: 'plan', planId: 'p' } };
  const fork = { ...link(1), id: 'f1', forkOf: { runId: 'r1', step: 0 } };
  const runs = [other, plan, fork, link(3), link(1)];
  const keys = groupsOf(runs, messages).map(({ key, runs }) => [key, runs.map(({ id }) => id)]);
  assert.deepEqual(keys, [
    ['m9', ['r9']],
    ['r8', ['r8']],
    ['f1', ['f1']],
    ['m1', ['r3', 'r1']],
  ]);
  const again = [link(1, { id: 'r2', retryOf: 'r1' }), link(1)];
  assert.deepEqual(
    groupsOf(again, messages).map(({ key }) => key),
    ['m1', 'r1'],
  );
  const named = [link(3, { chainId: 'c' }), link(1, { chainId: 'c' })];
  assert.deepEqual(
    groupsOf(named, NONE).map(({ key }) => key),
    ['c'],
  );
  const sums = sumsOf([link(3), link(1)], NOW);
  assert.deepEqual([sums.steps, sums.tokens, sums.cost, sums.depth], [4, 22, 1, 2]);
  assert.equal(sums.to - sums.from, 2500);
  assert.deepEqual(countsOf([link(3), link(1), link(9)], messages), [
    ['spoke', 2],
    ['done', 1],
  ]);
  const three = (more) => ({ runs: [link(9, { agentId: 'a9' }), link(2, more), link(1)] });
  assert.deepEqual(agentsOf(three(), messages), ['a1', 'a0', 'a9']);
  assert.deepEqual(agentsOf(three({ status: 'failed' }), messages), ['a0', 'a1', 'a9']);
});

test('what runs, waits and has failed comes first, unless the order is another one', () => {
  const group = (n, more) => ({ key: String(n), runs: [link(n, more)] });
  const groups = [
    group(1, { status: 'running', usage: null }),
    group(2, { status: 'waiting_tool' }),
    group(3, { status: 'failed' }),
    group(4, { usage: { inputTokens: 1, outputTokens: 1, cost: 9 } }),
    group(5),
  ];
  const order = (by) => sorted(groups, by).map(({ key }) => key);
  assert.deepEqual(order(''), ['1', '2', '3', '5', '4']);
  assert.deepEqual(order('time'), ['5', '4', '3', '2', '1']);
  assert.deepEqual(order('cost'), ['4', '5', '3', '2', '1']);
  assert.deepEqual(viewOf(new URLSearchParams('sort=cost&group=run')), {
    sort: 'cost',
    group: 'run',
  });
  assert.deepEqual(viewOf(new URLSearchParams('sort=x')), { sort: '', group: '' });
});

test('messages that are near each other are loaded together', () => {
  assert.deepEqual(rangesOf([link(300), link(3), link(9), { ...link(2), activeSpaceId: 't' }]), [
    { spaceId: 's', from: 3, to: 17 },
    { spaceId: 's', from: 300, to: 308 },
    { spaceId: 't', from: 2, to: 10 },
  ]);
});

test('the cost of today is compared with the days before', () => {
  assert.equal(costsPath(NOW), '/v1/usage?from=2026-11-18&to=2026-11-25&by=day');
  const day = (day, cost, more) => ({ day, cost, ...more });
  const plain = costsOf([day('2026-11-25', 0.3), day('2026-11-20', 0.7)], NOW);
  assert.deepEqual([plain.today, plain.change, plain.isByHour], [0.3, 200, false]);
  assert.deepEqual(
    plain.bars.map(({ cost }) => cost),
    [0, 0, 0.7, 0, 0, 0, 0, 0.3],
  );
  // With hours, only as much of the other days counts as has passed of this one.
  const hours = (at, cost) => Array.from({ length: 24 }, (_, hour) => (hour === at ? cost : 0));
  const byHour = costsOf(
    [
      day('2026-11-25', 0.3, { hours: hours(11, 0.3) }),
      day('2026-11-20', 1.4, { hours: hours(10, 0.7).with(20, 0.7) }),
    ],
    NOW,
  );
  assert.deepEqual([byHour.change, byHour.isByHour, byHour.bars.length], [200, true, 12]);
  assert.deepEqual(byHour.bars.at(-2), { key: '2026-11-25 11:00', cost: 0.3 });
  assert.equal(costsOf([], NOW).change, null);
  assert.deepEqual([changeText(1240), changeText(-12)], ['+ 1,240 %', '− 12 %']);
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
