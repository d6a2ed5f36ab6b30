// The roll call of a message in a line, and the list that it opens.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { joinedNames, moreWords, rollOf } = await importSource(`
  export { joinedNames } from './src/talk/joined_names.ts';
  export { moreWords } from './src/why/outcomes.ts';
  export { rollOf } from './src/why/roll.ts';
`);

const outcome = (agentId, state, reason = null, more = {}) => ({
  agentId,
  runId: state === 'notWoken' ? null : `run of ${agentId}`,
  state,
  reason,
  source: null,
  sourceText: null,
  ...more,
});
const many = (count, state, reason) =>
  Array.from({ length: count }, (_, index) => outcome(`${state} ${index}`, state, reason));

/** The line and the list, as `{named, counts, listed}` of ids. */
function roll(...outcomes) {
  const { named, counts, listed } = rollOf(outcomes.flat());
  const ids = (list) => list.map(({ agentId }) => agentId);
  return { named: ids(named), counts: Object.fromEntries(counts), listed: ids(listed) };
}

test('the line names who spoke, failed, thinks or waits, and counts the silent', () => {
  const silent = many(24, 'silent', 'not for me');
  const ids = silent.map(({ agentId }) => agentId);
  assert.deepEqual(roll(silent, outcome('Ana', 'spoke')), {
    named: ['Ana'],
    counts: { silent: 24 },
    listed: ids,
  });
  assert.deepEqual(
    roll(outcome('A', 'thinking'), outcome('B', 'spoke'), outcome('C', 'waiting')).named,
    ['C', 'B', 'A'],
  );
});

test('a single silent agent is named', () => {
  assert.deepEqual(roll(outcome('Ana', 'spoke'), outcome('Quinn', 'silent', 'Not mine.')), {
    named: ['Ana', 'Quinn'],
    counts: {},
    listed: ['Quinn'],
  });
  assert.deepEqual(roll(outcome('Quinn', 'silent')).listed, []);
  assert.deepEqual(roll(outcome('Pax', 'notWoken', 'paused')).counts, { 'not woken': 1 });
});

test('of many that work the line names three', () => {
  const { named, counts, listed } = roll(many(25, 'thinking'), outcome('Fay', 'failed', 'no key'));
  assert.deepEqual(named, ['Fay', 'thinking 0', 'thinking 1']);
  assert.deepEqual(counts, { 'thinking…': 23 });
  assert.equal(listed.length, 23);
});

test('agents that the policy leaves out count only if nobody was asked', () => {
  const left = many(2, 'notWoken', 'policy');
  assert.deepEqual(roll(left, outcome('Ana', 'spoke')).counts, {});
  assert.deepEqual(roll(left).counts, { 'not woken': 2 });
  assert.deepEqual(roll(many(1, 'notWoken', 'paused'), outcome('Ana', 'spoke')).counts, {
    'not woken': 1,
  });
});

test('a named agent is listed if there is more to say', () => {
  const chosen = outcome('Cleo', 'spoke', null, { sourceText: 'It is about a bill.' });
  assert.deepEqual(roll(chosen), { named: ['Cleo'], counts: {}, listed: ['Cleo'] });
  assert.equal(moreWords(chosen), 'chosen: It is about a bill');
  assert.equal(moreWords(outcome('Ana', 'stopped', 'cancel')), 'by a person');
  // The line of the failure says it.
  assert.equal(moreWords(outcome('Ana', 'failed', 'no key')), '');
});

test('names that count on are joined, and of many the first are named', () => {
  assert.equal(joinedNames(['Ana']), 'Ana');
  const teams = ['01', '02', '03'].map((number) => `Team assistant ${number}`);
  assert.equal(joinedNames(['Orders', ...teams, 'Ana 9']), 'Orders, Team assistant 01–03, Ana 9');
  assert.equal(joinedNames(['A 1', 'B 2']), 'A 1, B 2');
  const letters = [...'ABCDEFGHI'];
  assert.equal(joinedNames(letters), 'A, B, C, D, E and 4 others');
});
