// External calls: the card shows the progress of a call and then its result.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliver, openFakeRoom } from './fake_server.js';

// A card of a call without a form, with the progress that its server reports.
const show = (page, { rev, progress, ...part }) =>
  deliver(
    page,
    ({ rev, progress, part }) => {
      const frame = window.card(1, { name: 'docs__search', ui: null, ...part }, { rev });
      if (progress) frame.message.parts.push({ type: 'text', text: progress });
      return frame;
    },
    { rev, progress, part },
  );

test('a card shows the progress of a call and then its output', async (t) => {
  const page = await openFakeRoom(t);
  const lines = () =>
    page.locator('.entry').evaluateAll((entries) => entries.map((entry) => entry.innerText.trim()));
  await show(page, { rev: 1, input: { words: 'tides' } });
  assert.deepEqual(await lines(), ['docs__search · pending']);
  await show(page, { rev: 2, progress: '2 of <b>4</b> shelves' });
  assert.deepEqual(await lines(), ['docs__search · pending\n\n2 of <b>4</b> shelves']);
  await show(page, { rev: 3, progress: '3 of 4 shelves' });
  assert.equal((await lines())[0], 'docs__search · pending\n\n3 of 4 shelves');
  assert.equal(
    await page.locator('.entry .note:visible').count(),
    0,
    'a card has no note about its dispatch',
  );
  await show(page, { rev: 4, status: 'completed', output: { found: 7 } });
  assert.deepEqual(await lines(), ['docs__search · completed found: 7']);
  await show(page, {
    rev: 5,
    status: 'failed',
    output: { error: 'the server docs did not answer within 30 s' },
  });
  assert.match((await lines())[0], /^docs__search · failed .*did not answer within 30 s/);
});
