// Forms of cards with a fake server: what a person has typed survives changes of the page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ORDER_SCHEMA } from '../../../clients/js/console/tests/order_schema.js';
import { ask, deliver, openFakeRoom } from './fake_server.js';

test('frames do not disturb typing in a form', async (t) => {
  const page = await openFakeRoom(t);
  const first = { input: { title: 'First' } };
  const second = {
    input: { title: 'Second' },
    resultSchema: { type: 'string', title: 'Text' },
  };
  const texts = ([from, to]) =>
    Array.from({ length: to - from }, (_, index) =>
      window.text(from + index, `text ${index}`, { runId: `run ${index}` }),
    );
  await deliver(page, texts, [1, 30]);
  await deliver(page, (data) => data.map((part, index) => window.card(30 + 2 * index, part)), [
    first,
    second,
  ]);
  const field = page.getByRole('textbox', { name: 'Text' });
  await field.pressSequentially('one two');
  await field.evaluate((node) => node.setSelectionRange(4, 7));
  const state = () =>
    field.evaluate((node) => {
      const { top } = node.getBoundingClientRect();
      const { value, selectionStart, selectionEnd } = node;
      return { top, typed: [value, selectionStart, selectionEnd, node === document.activeElement] };
    });
  const before = await state();
  // Heights have fractions of pixels, and scroll positions have none.
  const isSame = ({ top, typed }, name) => {
    assert.deepEqual(typed, before.typed, name);
    assert.ok(Math.abs(top - before.top) <= 1, `moved by ${top - before.top}: ${name}`);
  };
  assert.deepEqual(before.typed, ['one two', 4, 7, true]);
  const changes = [
    // A message between the cards splits their bubble.
    () => window.text(31, 'between', { runId: 'other' }),
    () =>
      window.card(
        30,
        {
          input: { title: 'First' },
          status: 'expired',
          output: { error: 'expired' },
        },
        { rev: 2 },
      ),
    () => window.card(32, { input: { title: 'Second' } }, { rev: 2 }),
    () => ({
      type: 'member.joined',
      member: { id: 'ada', name: 'Ada the Second', type: 'agent' },
    }),
    () => window.stream('x', 'More to come', { runId: 'z', kind: 'message' }),
  ];
  for (const change of changes) {
    await deliver(page, change);
    isSame(await state(), String(change));
  }
  await deliver(page, texts, [33, 70]);
  isSame(await state(), 'messages below');
  await field.pressSequentially('three');
  assert.equal(await field.inputValue(), 'one three');
  assert.ok(await page.getByRole('button', { name: 'Go to the latest' }).isVisible());
  // After the answer the timeline follows its end again.
  await field.press('Enter');
  await deliver(page, () =>
    window.card(
      32,
      { input: { title: 'Second' }, status: 'completed', output: 'one three' },
      { rev: 3 },
    ),
  );
  await deliver(page, () => window.text(70, 'the last'));
  await page.waitForFunction(() => {
    const log = document.getElementById('log');
    return log.scrollHeight - log.scrollTop - log.clientHeight < 2;
  });
});

test('a draft survives a switch to another space', async (t) => {
  const page = await openFakeRoom(t);
  const part = { input: { title: 'Order' }, resultSchema: ORDER_SCHEMA };
  await ask(page, part);
  const form = page.getByRole('group', { name: 'Order' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Nora');
  await form.getByRole('radio', { name: 'Large' }).check();
  await form.getByRole('textbox', { name: 'Street' }).fill('Quay 1');
  await form.getByRole('checkbox', { name: 'Ribbon' }).check();
  await form.getByRole('button', { name: 'Decline…' }).click();
  await page.keyboard.type('no time');
  await page.evaluate(() => window.open());
  await form.waitFor({ state: 'detached' });
  await ask(page, part);
  assert.equal(await form.getByRole('textbox', { name: 'Name' }).inputValue(), 'Nora');
  assert.ok(await form.getByRole('radio', { name: 'Large' }).isChecked());
  assert.equal(await form.getByRole('textbox', { name: 'Street' }).inputValue(), 'Quay 1');
  assert.ok(await form.getByRole('checkbox', { name: 'Ribbon' }).isChecked());
  assert.equal(await form.getByRole('textbox', { name: 'Why not?' }).inputValue(), 'no time');
});
