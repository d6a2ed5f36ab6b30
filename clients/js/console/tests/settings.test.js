// The settings of a space in words, the reasons of refused invites, and the requests of the dialog
// "New space".

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { entityBody, placed, refusalText, routerChange, todayText } = await importSource(`
  export { routerChange, todayText } from './src/studio/settings/policies.ts';
  export { refusalText } from './src/studio/people/invite_words.ts';
  export { entityBody, placed } from './src/studio/new_space/new_members.ts';
`);

const LIMITS = { tokensPerDay: 5000, costPerDay: 2.5, runsPerMinute: 1 };
const NO_LIMITS = { tokensPerDay: null, costPerDay: null, runsPerMinute: 120 };
const USED = { inputTokens: 1, outputTokens: 0, cost: null, runs: 2 };

test('the use of today is said in words', () => {
  assert.equal(todayText(USED, NO_LIMITS), '1 token · price unknown · 2 runs');
  assert.equal(
    todayText({ ...USED, cost: 0.5 }, LIMITS),
    '1 token of 5,000 · $0.50 of $2.50 · 2 runs',
  );
  const unused = { ...USED, inputTokens: 0, runs: 0 };
  assert.equal(todayText(unused, NO_LIMITS), '0 tokens · 0 runs');
  assert.equal(todayText(unused, LIMITS), '0 tokens of 5,000 · $0 of $2.50 · 0 runs');
});

test('a router that leaves the scripted provider leaves its script', () => {
  const scripted = {
    router: { model: { provider: 'scripted', name: 'r', script: { rules: [] } } },
  };
  const change = (model) => ({ name: 'New', router: { maxAgents: 2, model } });
  assert.deepEqual(
    routerChange(change({ provider: 'openai' }), scripted),
    change({ provider: 'openai', script: null }),
  );
  for (const [body, space] of [
    [change({ provider: 'openai' }), { router: null }],
    [change({ name: 'other' }), scripted],
    [{ name: 'New' }, scripted],
    [change({ name: 'other' }), { router: { model: null } }],
  ])
    assert.equal(routerChange(body, space), body);
  assert.deepEqual(routerChange(change({ provider: '-' }), scripted), change(null));
});

test('a refused invite says what to do', () => {
  const cases = [
    [401, '', 'nobody', /Sign in with your own token/],
    [403, '', 'guest', /one space only/],
    [403, '', 'agent', /An owner adds them/],
    [403, '', 'person', /turned off/],
    [404, '', 'nobody', /has ended/],
    [409, 'the invite is used up: ask for another one', 'person', /is used up/],
    [409, 'the space is full', 'person', /right now: the space is full\.$/],
    [429, '', 'nobody', /Wait a minute/],
    [0, '', 'nobody', /can’t be reached/],
    [500, 'A fault.', 'person', /have not joined: A fault\./],
  ];
  for (const [status, detail, reader, expected] of cases)
    assert.match(refusalText(status, detail, reader), expected);
});

test('a new agent has a script, and a new person has none', () => {
  assert.deepEqual(entityBody({ type: 'human', name: 'Ida' }), { type: 'human', name: 'Ida' });
  const { agent } = entityBody({ type: 'agent', name: 'Echo' });
  assert.equal(agent.model.provider, 'scripted');
  assert.equal(agent.model.script.rules.length, 1);
});

test('errors of a new space show where they belong', () => {
  const name = { pointer: '/name', detail: 'too long' };
  const member = { pointer: '/members/1', detail: 'not open' };
  assert.deepEqual(placed([name, member], 'all'), {
    name: 'too long',
    members: 'not open',
    others: '',
  });
  assert.deepEqual(placed([], 'Taken.'), { name: '', members: '', others: 'Taken.' });
});
