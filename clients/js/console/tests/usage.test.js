// The numbers of the usage page: ranges and sums.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const {
  daysOf,
  groupOf,
  hourFilter,
  hoursOf,
  isAgent,
  lastDays,
  lengthOf,
  namesOf,
  rangeBefore,
  rangeFilter,
  rangeOf,
  reuseOf,
  seriesOf,
  shortened,
  usageCost,
  weekBefore,
} = await importSource(`
  export * from './src/studio/usage/hours.ts';
  export * from './src/studio/usage/names.ts';
  export * from './src/studio/usage/report.ts';
  export { usageCost } from './src/why/words.ts';
`);

const NOW = Date.parse('2026-03-01T23:59:00Z');
const row = (day, agentId, model, cost, inputTokens = 10) => ({
  day,
  agentId,
  provider: 'p',
  model,
  runs: 1,
  inputTokens,
  cachedTokens: 4,
  cacheWriteTokens: 0,
  outputTokens: 1,
  cost,
});

test('a range is what the address says, or else the last 30 days', () => {
  assert.deepEqual(lastDays(7, NOW), { from: '2026-02-23', to: '2026-03-01' });
  assert.deepEqual(rangeOf(new URLSearchParams(), NOW), { from: '2026-01-31', to: '2026-03-01' });
  assert.equal(rangeOf(new URLSearchParams({ from: '2026-02-01' }), NOW).from, '2026-02-01');
  assert.deepEqual(daysOf({ from: '2026-02-27', to: '2026-03-01' }), [
    '2026-02-27',
    '2026-02-28',
    '2026-03-01',
  ]);
  assert.deepEqual(daysOf({ from: '2026-03-02', to: '2026-03-01' }), []);
  assert.deepEqual(daysOf({ from: '1926-03-02', to: '2026-03-01' }), []);
  assert.deepEqual(daysOf({ from: 'x', to: '2026-03-01' }), []);
  assert.equal(groupOf(new URLSearchParams({ by: 'model' })), 'model');
  assert.equal(groupOf(new URLSearchParams({ by: 'x' })), 'agent');
});

test('sums are ordered by cost, and those without a price stay without one', () => {
  const rows = [
    row('1', 'Ana', 'm', 1),
    row('2', 'Ana', 'm', 2),
    row('2', 'Ana', 'n', null),
    row('1', 'Ben', 'n', null),
    row('1', undefined, 'm', 9),
  ];
  const brief = (by) => seriesOf(rows, by).map(({ key, total }) => [key, total.cost, total.runs]);
  assert.deepEqual(brief('agent'), [
    ['', 9, 1],
    ['Ana', 3, 3],
    ['Ben', null, 1],
  ]);
  assert.deepEqual(brief('model'), [
    ['p/m', 12, 3],
    ['p/n', null, 2],
  ]);
  assert.deepEqual(brief('agent,model').at(1), ['Ana p/m', 3, 2]);
  const nothing = { ...row('1', 'Cleo', 'm', 0, 0), runs: 0, outputTokens: 0 };
  assert.equal(seriesOf([...rows, nothing], 'agent').length, 3);
  const [, ana] = seriesOf(rows, 'agent');
  assert.equal(ana.days.get('2').inputTokens, 20);

  const [most, others] = shortened(seriesOf(rows, 'agent'), 2);
  assert.equal(most.key, '');
  assert.deepEqual(
    [others.key, others.total.cost, others.days.get('1').inputTokens],
    [null, 3, 20],
  );
});

test('a model without a price shows that its price is unknown', () => {
  const unknown = { ...row('1', 'ent_1', 'm', 1), priceUnknown: true };
  const cases = [
    [{ ...unknown, cost: 0 }, 'price unknown'],
    [{ ...unknown, cost: null }, 'price unknown'],
    [{ ...unknown, cost: 1.5 }, '$1.50, price unknown'],
    [{ ...unknown, priceUnknown: false, cost: 1.5 }, '$1.50'],
    [{ ...unknown, inputTokens: 0, outputTokens: 0, cost: null }, '$0'],
  ];
  for (const [item, words] of cases) assert.equal(usageCost(item), words);
  // A sum with such a row says so, too.
  const [sum] = seriesOf([row('1', 'ent_1', 'm', 1), unknown], 'agent');
  assert.equal(sum.total.priceUnknown, true);
  const [known] = seriesOf([row('1', 'ent_1', 'm', 1)], 'agent');
  assert.equal('priceUnknown' in known.total, false);
});

test('the reuse of the cache is a share of what was read', () => {
  assert.equal(reuseOf({ inputTokens: 10, cachedTokens: 4 }), 40);
  assert.equal(reuseOf({ inputTokens: 0, cachedTokens: 0 }), null);
});

test('a series has the name of its agent, and routers have no agent', () => {
  const rows = [
    { ...row('1', 'ent_1', 'm', 1), agentName: 'Ana' },
    row('1', 'ent_2abcd', 'm', 1),
    row('1', undefined, 'm', 1),
  ];
  const nameOf = namesOf(rows, 'agent', new Set());
  assert.deepEqual(['ent_1', 'ent_2abcd', '', null].map(nameOf), [
    'Ana',
    'Unknown agent …abcd',
    'Routers',
    'All others',
  ]);
  assert.equal(namesOf(rows, 'agent,model', new Set())('ent_1 p/m'), 'Ana · p/m');
  assert.equal(namesOf(rows, 'model', new Set())('p/m'), 'p/m');
  // A person has no runs: it is the routers that its messages asked.
  const people = new Set(['ent_1']);
  assert.equal(namesOf(rows, 'agent', people)('ent_1'), 'Router, asked by Ana');
  assert.equal(namesOf(rows, 'agent,model', people)('ent_1 p/m'), 'Router, asked by Ana · p/m');
  const keys = ['ent_1 p/m', 'ent_1', 'ent_2', 'p/m', '', null];
  assert.deepEqual(
    keys.filter((key) => isAgent(key, people)),
    ['ent_2'],
  );
});

test('a range is compared with the one before, and an hour with that of a week', () => {
  assert.deepEqual(rangeBefore({ from: '2026-02-27', to: '2026-03-01' }), {
    from: '2026-02-24',
    to: '2026-02-26',
  });
  assert.equal(rangeBefore({ from: '2026-03-01', to: 'x' }), null);
  assert.equal(lengthOf({ from: '2026-02-27', to: '2026-03-01' }), 3);
  assert.deepEqual(weekBefore('2026-03-01'), { from: '2026-02-22', to: '2026-03-01' });
  assert.equal(weekBefore('x'), null);
  const hours = (cost) => Array.from({ length: 24 }, (_, hour) => (hour === 7 ? cost : 0));
  const days = [
    { day: '2026-02-28', hours: hours(7) },
    { day: '2026-03-01', hours: hours(3) },
    { day: '2026-02-27' },
  ];
  const found = hoursOf(days, '2026-03-01');
  assert.equal(found.length, 24);
  assert.deepEqual(found[7], { hour: 7, cost: 3, usual: 1 });
  assert.equal(hoursOf([{ day: '2026-03-01' }], '2026-03-01'), null);
  assert.deepEqual(hourFilter('2026-03-01', 23), {
    since: '2026-03-01T23:00:00.000Z',
    until: '2026-03-02T00:00:00.000Z',
  });
  assert.deepEqual(rangeFilter({ from: '2026-02-27', to: '2026-03-01' }), {
    since: '2026-02-27T00:00:00.000Z',
    until: '2026-03-02T00:00:00.000Z',
  });
});
