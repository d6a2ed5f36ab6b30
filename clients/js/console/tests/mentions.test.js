// Which mention a person is writing, whom it may mean, and what it becomes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { candidatesOf, completed, mentionAt } = await importSource(`
  export { candidatesOf, completed, mentionAt } from './src/page/composer/mentions.ts';
`);

test('a mention is found before the caret, unless its @ follows a word', () => {
  const queryAt = (marked) => {
    const caret = marked.indexOf('|');
    return mentionAt(marked.replace('|', ''), caret)?.query ?? null;
  };
  const cases = [
    ['@|', ''],
    ['@An|', 'An'],
    ['Hello @An| there', 'An'],
    ['(@An|)', 'An'],
    ['سلام @An|', 'An'],
    ['@Release B|', 'Release B'],
    ['@A\n|', null],
    ['@one two three|', null],
    ['mail@an|', null],
    ['a.@an|', null],
    ['Hello|', null],
    ['|@An', null],
    ['@Ana @|', ''],
  ];
  for (const [marked, query] of cases) assert.equal(queryAt(marked), query, marked);
});

test('agents come first, and names that begin with the query', () => {
  const members = [
    { name: 'Anton', type: 'human' },
    { name: 'Big Ana', type: 'agent' },
    { name: 'Ana', type: 'agent' },
    { name: 'Zoe', type: 'agent' },
    { name: 'İlker', type: 'human' },
  ];
  const names = (query) => candidatesOf(members, query).map(({ name }) => name);
  assert.deepEqual(names('an'), ['Ana', 'Anton', 'Big Ana']);
  assert.deepEqual(names(''), ['Ana', 'Big Ana', 'Zoe', 'Anton', 'İlker']);
  assert.deepEqual(names('big a'), ['Big Ana']);
  assert.deepEqual(names('x'), []);
  assert.deepEqual(names('na'), []);
  const many = Array.from({ length: 30 }, (_, index) => ({ name: `A${index}`, type: 'agent' }));
  assert.equal(candidatesOf(many, 'a').length, 8);
});

test('a completed mention keeps the text around it', () => {
  const complete = (marked, name) => {
    const caret = marked.indexOf('|');
    const text = marked.replace('|', '');
    const after = completed(text, mentionAt(text, caret), name);
    return `${after.text.slice(0, after.caret)}|${after.text.slice(after.caret)}`;
  };
  assert.equal(complete('@an|', 'Ana'), '@Ana |');
  assert.equal(complete('Hi @an| there', 'Ana'), 'Hi @Ana |there');
  assert.equal(complete('Hi @big a|, there', 'Big Ana'), 'Hi @Big Ana |, there');
});
