// Where an invite leads, in words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { placeWords } = await importSource(`export * from './src/studio/people/invite_words.ts';`);

const words = (more) =>
  placeWords({ spaceName: 'Garden', invitedBy: 'Sara', people: 2, agents: [], ...more });

test('an invite says where it leads, who invited, and that agents read along', () => {
  assert.deepEqual(words({ agents: ['Ana', 'Ben'] }), [
    'Sara has invited you to Garden.',
    '2 people are there. The agents Ana and Ben read along.',
  ]);
  assert.deepEqual(words({ invitedBy: null, people: 0, agents: ['A\u202e'] }), [
    'You are invited to Garden.',
    'Nobody is there yet. The agent AU+202E reads along.',
  ]);
  assert.equal(words({ people: 1 })[1], 'One person is there. There are no agents.');
});

test('of many agents six are named', () => {
  const [, readers] = words({ agents: [...'ABCDEFGH'] });
  assert.match(readers, /The agents A, B, C, D, E, F, and 2 more read along\.$/);
});
