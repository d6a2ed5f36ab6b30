// Revisions in words, and what differs between two states of an agent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { differences, filesWords, whatWords, whoWords } = await importSource(`
  export * from './src/studio/agents/revisions/revision_words.ts';
`);

const API = { kind: 'api' };
const changes = (...pointers) => pointers.map((pointer) => ({ pointer }));

test('a revision says what made it', () => {
  const restore = { kind: 'restore', restoredFrom: 12 };
  const cases = [
    [{ revision: 1, source: API, changes: [] }, 'created'],
    [{ revision: 4, source: API, changes: changes('/name') }, 'changed name'],
    [{ revision: 4, source: API, changes: [] }, 'changed nothing'],
    [{ revision: 14, source: restore, changes: changes('/name') }, 'restored 12'],
    [
      { revision: 2, source: API, changes: changes('/model/name', '/a~1b~01', '/x', '/y', '/z') },
      'changed model / name, a/b~1, x and 2 more',
    ],
  ];
  for (const [revision, words] of cases) assert.equal(whatWords(revision), words);
});

test('a revision says which files made it', () => {
  const source = { kind: 'apply', project: 'support', path: 'agents/ada.yaml', commit: '4f2c9e1a' };
  const revision = { revision: 4, source, changes: changes('/name') };
  assert.equal(whatWords(revision), 'changed name');
  assert.equal(filesWords(revision), ', from files: support, agents/ada.yaml at 4f2c9e1');
  assert.equal(filesWords({ source: API }), '');
});

test('a revision says who made it', () => {
  const nameOf = (id) => (id === 'ent_1' ? 'Ann' : undefined);
  assert.equal(whoWords({ kind: 'admin_key' }, nameOf), 'the admin key');
  assert.equal(whoWords({ kind: 'entity', id: 'ent_1' }, nameOf), 'Ann');
  assert.equal(whoWords({ kind: 'entity', id: 'ent_2' }, nameOf), 'ent_2');
  assert.equal(whoWords({ kind: 'unknown' }, nameOf), 'somebody');
});

test('fields that differ have a pointer, and lists count whole', () => {
  const model = (name) => ({ name, params: { a: 1 } });
  const before = { name: 'Ada', agent: { model: model('m'), tools: [1, 2], 'a/b': 1, gone: true } };
  const after = { name: 'Bob', agent: { model: model('n'), tools: [1], 'a/b': 2, come: null } };
  assert.deepEqual(differences(before, after), [
    { pointer: '/name', from: 'Ada', to: 'Bob' },
    { pointer: '/model/name', from: 'm', to: 'n' },
    { pointer: '/tools', from: [1, 2], to: [1] },
    { pointer: '/a~1b', from: 1, to: 2 },
    { pointer: '/gone', from: true, to: undefined },
    { pointer: '/come', from: undefined, to: null },
  ]);
  assert.deepEqual(differences(before, before), []);
});
