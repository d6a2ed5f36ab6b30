// Calls that reach outside: their card is there while they are under way, says how far they are, and then what came of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hand, openMadeUpRoom } from './madeup.js';

// A card of a call that asks nobody, with what its server says of it.
const show = (page, { rev, says, ...part }) =>
  hand(
    page,
    ({ rev, says, part }) => {
      const frame = window.card(1, { name: 'docs__search', ui: null, ...part }, { rev });
      if (says) frame.message.parts.push({ type: 'text', text: says });
      return frame;
    },
    { rev, says, part },
  );

test('a call under way says how far it is, and at its end what came of it', async (t) => {
  const page = await openMadeUpRoom(t);
  const lines = () => page.locator('.entry').allInnerTexts();
  await show(page, { rev: 1, input: { words: 'tides' } });
  assert.deepEqual(await lines(), ['docs__search · pending']);
  await show(page, { rev: 2, says: '2 of <b>4</b> shelves' });
  assert.deepEqual(await lines(), ['docs__search · pending\n\n2 of <b>4</b> shelves']);
  await show(page, { rev: 3, says: '3 of 4 shelves' });
  assert.equal((await lines())[0], 'docs__search · pending\n\n3 of 4 shelves');
  assert.equal(await page.locator('.note:visible').count(), 0, 'a card wakes nobody, and need not say so');
  await show(page, { rev: 4, status: 'completed', output: { found: 7 } });
  assert.deepEqual(await lines(), ['docs__search · completed {"found":7}']);
  await show(page, { rev: 5, status: 'failed', output: { error: 'the server docs did not answer within 30 s' } });
  assert.match((await lines())[0], /^docs__search · failed .*did not answer within 30 s/);
});
