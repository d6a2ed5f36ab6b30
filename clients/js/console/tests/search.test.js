// The filters of a search: what a text has, how chips change it, and what is asked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const {
  askedFor,
  choicesFor,
  completed,
  filtersOf,
  finished,
  openFilterAt,
  problemOf,
  spaceValue,
  toggled,
  withPrefix,
  withoutFilter,
} = await importSource(
  `export * from './src/search/query.ts'; export * from './src/search/found.ts';`,
);

const shown = (text) => filtersOf(text).map(({ name, value }) => `${name}=${value}`);

test('filters are found between words and phrases', () => {
  const cases = [
    ['rollback in:"Ops room" FROM:sara has:file', ['in=Ops room', 'from=sara', 'has=file']],
    ['before:2026-02-18 after:2026-01-01', ['before=2026-02-18', 'after=2026-01-01']],
    ['"a in:b c" -"has:file x"', []],
    ['foo:bar xin:y in: -draft', []],
    ['in:"Ops ro', ['in=Ops ro']],
    ['in:“Ops room” „from:sara“ from:O"Neil', ['in=Ops room', 'from=O"Neil']],
    ['', []],
  ];
  for (const [text, filters] of cases) assert.deepEqual(shown(text), filters, text);
});

test('a chip adds its filter and takes it back', () => {
  assert.equal(toggled('plan', 'has', 'file'), 'plan has:file');
  assert.equal(toggled('plan has:file now', 'has', 'FILE'), 'plan now');
  assert.equal(toggled('', 'from', 'me'), 'from:me');
  assert.equal(toggled('plan', 'in', 'Ops room'), 'plan in:"Ops room"');
  const text = 'has:file in:"Ops room" plan';
  assert.equal(withoutFilter(text, filtersOf(text)[1]), 'has:file plan');
});

test('the filter before the caret is completed, and the rest stays', () => {
  const complete = (marked, choice) => {
    const caret = marked.indexOf('|');
    const text = marked.replace('|', '');
    const begun = openFilterAt(text, caret);
    if (!begun) return null;
    const after = completed(text, caret, begun, choice);
    return `${after.text.slice(0, after.caret)}|${after.text.slice(after.caret)}`;
  };
  const ops = { id: 's1', name: 'Ops room' };
  assert.equal(complete('plan in:op|', ops), 'plan in:"Ops room" |');
  assert.equal(complete('in:"Ops r|" plan', ops), 'in:"Ops room" |plan');
  assert.equal(complete('from:|', { id: 'e1', name: 'Sara' }), 'from:Sara |');
  // Quotes have no escape.
  assert.equal(complete('in:|', { id: 's2', name: 'The "A" team' }), 'in:s2 |');
  assert.equal(complete('plan|', ops), null);
  assert.equal(complete('has:f|', ops), null);
});

test('choices that begin with the text come first', () => {
  const all = ['Big Ops', 'Ops', 'Shop', 'Opal'].map((name) => ({ id: name, name }));
  const names = (query) => choicesFor(all, query).map(({ name }) => name);
  assert.deepEqual(names('op'), ['Opal', 'Ops', 'Big Ops']);
  assert.deepEqual(names('shop'), ['Shop']);
  assert.equal(names('').length, 4);
});

test('the operator searches the spaces that the text names, or else the open one', () => {
  const spaces = [
    { id: 's1', name: 'Ops room' },
    { id: 's2', name: 'Finance' },
  ];
  const asked = (text, openId = 's9') => askedFor(text, { spaces, openId });
  assert.equal(askedFor('  ', null), null);
  assert.deepEqual(askedFor('in:finance plan', null), { q: 'in:finance plan' });
  assert.deepEqual(asked('plan'), { q: 'plan', spaceIds: ['s9'] });
  assert.deepEqual(asked('plan', null), null);
  assert.deepEqual(asked('in:s1 plan', null), { q: 'plan', spaceIds: ['s1'] });
  assert.deepEqual(asked('in:"ops room" plan in:s2'), { q: 'plan', spaceIds: ['s2', 's1'] });
  assert.deepEqual(asked('in:elsewhere plan'), { q: 'in:elsewhere plan', spaceIds: ['s9'] });
});

test('a filter that is still written is not asked for', () => {
  const known = { in: [{ id: 's1', name: 'Ops room' }], from: [{ id: 'e1', name: 'Sara' }] };
  const asked = (marked) => {
    const caret = marked.indexOf('|');
    return finished(marked.replace('|', ''), caret, known);
  };
  const unfinished = [
    'from:s',
    'from:',
    'in:"Ops',
    'has:f',
    'has:',
    'before:2026',
    'after:2026-02-3',
  ];
  for (const text of unfinished) assert.equal(asked(`plan ${text}|`), 'plan', text);
  assert.equal(asked('from:s| plan'), 'plan');
  const complete = [
    'from:s |',
    'from:sara|',
    'from:e1|',
    'in:"Else"|',
    'has:FILE|',
    'before:2026-02-18|',
    'after:2026-02-18T10:00:00Z|',
    '"has:f|"',
    'plan|',
  ];
  for (const text of complete) assert.equal(asked(text), text.replace('|', ''), text);
});

test('the last word that is typed stands for those that begin so', () => {
  const cases = { roll: 'roll*', 'a roll': 'a roll*', Ärz: 'Ärz*', 'from:me ro': 'from:me ro*' };
  for (const [text, wanted] of Object.entries(cases)) assert.equal(withPrefix(text), wanted);
  for (const text of ['r', 'roll ', 'roll*', '-roll', '"the roll', '"roll"', 'in:roll', 'a-b', ''])
    assert.equal(withPrefix(text), text);
});

test('a space is named by its name, unless another one has it too', () => {
  const spaces = ['Ops room', 'Finance', 'finance', 'The "A" team'].map((name, index) => ({
    id: `s${index}`,
    name,
  }));
  const values = [...spaces.map(({ id }) => spaceValue(spaces, id)), spaceValue(spaces, 's9')];
  assert.deepEqual(values, ['Ops room', 's1', 's2', 's3', 's9']);
});

test('an error is a sentence without its place', () => {
  const error = new Error('/q: no such space');
  assert.equal(problemOf(error), '/q: no such space');
  const errors = [
    { pointer: '/q', detail: 'expected a word' },
    { pointer: '', detail: 'a day' },
  ];
  assert.equal(problemOf(Object.assign(error, { errors })), 'Expected a word; a day.');
});
