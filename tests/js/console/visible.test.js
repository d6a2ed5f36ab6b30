// What people see of texts and names that are made to mislead, or to be slow, in a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, deliver, openFakeRoom } from './fake_server.js';

const TROJAN = 'rm -r a\u202e # \u2066all';
const SHOWN = 'rm -r aU+202E # U+2066all';

test('code and forms show characters that reorder others', async (t) => {
  const page = await openFakeRoom(t);
  await deliver(page, (text) => window.text(1, text), `\`${TROJAN}\`\n\n    ${TROJAN}`);
  const codes = page.locator('.entry[data-seq="1"] code');
  assert.deepEqual(await codes.allTextContents(), [SHOWN, SHOWN]);

  const command = { type: 'string', title: 'Command', default: TROJAN };
  const resultSchema = { type: 'object', properties: { command } };
  await deliver(page, (part) => window.card(2, part), { input: { title: TROJAN }, resultSchema });
  const form = page.getByRole('group', { name: SHOWN });
  assert.equal(await form.getByRole('textbox', { name: 'Command' }).inputValue(), TROJAN);
  await form.getByText(`With what does not show: ${SHOWN}`).waitFor();
  await page.locator('.tool summary').click();
  assert.equal(await page.locator('.tool details td').textContent(), SHOWN);
});

test('a guest shows as a guest', async (t) => {
  const page = await openFakeRoom(t);
  const guest = { id: 'bob', name: 'Bob', type: 'human', role: 'member', readSeq: 0, guest: true };
  await deliver(page, (member) => ({ type: 'member.joined', member }), guest);
  await deliver(page, (sender) => window.text(1, 'approved', { sender, runId: null }), guest);
  const head = page.locator('.bubble', { hasText: 'approved' }).locator('header');
  await head.getByText('(guest)').waitFor();
  await page.getByRole('list', { name: 'Members' }).getByText('Bob (guest), person').waitFor();
  const sender = page.getByRole('combobox', { name: 'as' });
  assert.deepEqual(await sender.locator('option').allTextContents(), [
    'Choose a person',
    'Sarah',
    'Husam',
    'Bob (guest)',
  ]);

  await deliver(page, () => {
    const [since, until] = ['2026-05-01T12:00:00Z', '2026-05-01T12:10:00Z'];
    const present = [{ entityId: 'bob', since, until, typingUntil: until }];
    return { type: 'presence', present, typing: ['bob'] };
  });
  await page.getByText('Bob (guest) is typing…').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('@Bo');
  assert.equal(await page.locator('#mentions').getByRole('option').textContent(), 'Bob(guest)');

  // Others have no mark.
  await deliver(page, () => window.text(2, 'hello'));
  assert.equal(await page.locator('.bubble.agent').getByText('(guest)').count(), 0);
});

test('names that are written from right to left do not move the words beside them', async (t) => {
  const page = await openFakeRoom(t);
  const member = { id: 'sara', name: 'שרה', type: 'human', role: 'member', readSeq: 0 };
  await deliver(page, (member) => ({ type: 'member.joined', member }), member);
  await ask(page, { input: { title: 'Go?' }, answerBy: ['sara', 'husam'] });
  const terms = await page.locator('.terms').textContent();
  assert.equal(terms, 'for \u2068שרה\u2069 or Husam to answer');
});

test('a text that takes too many steps is shown as it is', async (t) => {
  const page = await openFakeRoom(t);
  const text = '> # *a*\nb\n'.repeat(1000);
  await deliver(page, (text) => window.text(1, text), text);
  const shown = page.locator('.entry[data-seq="1"] .text');
  assert.equal(await shown.textContent(), text);
  assert.equal(await shown.locator('*').count(), 0);
  // What follows is shown as usual.
  await deliver(page, () => window.text(2, '*soon*'));
  assert.equal(await page.locator('.entry[data-seq="2"] em').textContent(), 'soon');
});

test('in a narrow window deep quotes have room, and no button covers code', async (t) => {
  const page = await openFakeRoom(t, { viewport: { width: 390, height: 800 } });
  const quotes = Array.from(
    { length: 10 },
    (_, depth) => `${'> '.repeat(depth + 1)}words of ${depth}`,
  );
  const code = 'const line = aLongCall(withArguments, andMore, untilItScrolls);';
  const text = `${quotes.join('\n')}\n\n\`\`\`\n${code}\n\`\`\``;
  await deliver(page, (text) => window.text(1, text), text);
  const boxOf = (locator) => locator.boundingBox();
  const entry = page.locator('.entry[data-seq="1"]');
  const last = await boxOf(entry.getByText('words of 9'));
  // One line, inside of the window.
  assert.ok(last.height < 40 && last.width > 100 && last.x + last.width <= 390);
  const [pre, button] = [await boxOf(entry.locator('pre')), await boxOf(entry.locator('.copy'))];
  assert.ok(pre.x + pre.width <= button.x && button.x + button.width <= 390);
});
