// Talking in a space: messages, answers that grow live, what they woke, and what failed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asEntries, kept, keptEntries, openSpace, openTab, send } from './console.js';
import { husam, world } from './suite.js';
import { answers } from './world.js';

const ANSWER = 'The harbour opens at seven in the morning and closes at nine in the evening, every day of the week but Sunday, and on Sunday at noon.';

test('an answer grows letter by letter and becomes one message in its place', async (t) => {
  const ada = await world.agent('Ada', [answers(ANSWER)], 60);
  const space = await world.space('Growing', [husam, ada]);
  const page = await openTab(t);
  await openSpace(page, 'Growing');
  await page.evaluate(recordGrowth);
  await send(page, 'When does the harbour open?');
  await kept(page, ANSWER).waitFor();

  const { shown, isSameNode } = await page.evaluate((answer) => {
    const entry = [...document.querySelectorAll('.entry[data-state="kept"]')].find((node) => node.textContent.startsWith(answer));
    return { shown: window.shown, isSameNode: window.written === entry };
  }, ANSWER);
  const growing = shown.filter(({ isKept }) => !isKept).map(({ text }) => text);
  assert.ok(growing.length >= 5, `the text was seen to grow in ${growing.length} steps`);
  for (const text of growing) assert.ok(ANSWER.startsWith(text), `not a beginning of the answer: ${text}`);
  const lengths = shown.map(({ text }) => text.length);
  assert.deepEqual(lengths, [...lengths].sort((one, other) => one - other), 'the text shrank');
  assert.ok(shown.every(({ count }) => count === 1), 'the answer stood there twice, or vanished');
  assert.ok(isSameNode, 'the message did not take the place of what was being written');
  assert.deepEqual(await keptEntries(page), asEntries(await world.messages(space)));
  await page.getByText('woke Ada', { exact: true }).waitFor();
  await page.locator('#working li').waitFor({ state: 'detached' });
});

// Runs in the page: notes each state of the agent's text, from its first letters on.
function recordGrowth() {
  window.shown = [];
  const look = () => {
    const entries = [...document.querySelectorAll('.bubble.agent .entry')];
    if (entries.length === 0 && window.shown.length === 0) return;
    window.written ??= entries[0];
    const text = entries[0]?.querySelector('.text')?.textContent ?? '';
    const isKept = entries[0]?.dataset.state === 'kept';
    const last = window.shown.at(-1);
    if (!last || last.text !== text || last.isKept !== isKept) window.shown.push({ text, isKept, count: entries.length });
  };
  new MutationObserver(look).observe(document.getElementById('bubbles'), { subtree: true, childList: true, characterData: true, attributes: true });
}

test('messages of one run stand in one bubble', async (t) => {
  const ada = await world.agent('Ada', [answers('First part.', 'Second part.')]);
  await world.space('One bubble', [husam, ada]);
  const page = await openTab(t);
  await openSpace(page, 'One bubble');
  await send(page, 'Tell me in two parts.');
  await kept(page, 'Second part.').waitFor();
  const bubble = page.getByRole('article').filter({ hasText: 'First part.' });
  assert.deepEqual(await bubble.locator('.text').allTextContents(), ['First part.', 'Second part.']);
  assert.equal(await page.getByRole('article').count(), 2);
});

test('Enter sends, Shift+Enter makes a new line, and what is written stays text', async (t) => {
  const space = await world.space('Plain text', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Plain text');
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.pressSequentially('one');
  await box.press('Shift+Enter');
  await box.pressSequentially('two');
  await box.press('Enter');
  const markup = '<img src="x" onerror="window.harmed = true"><b>bold</b>';
  await kept(page, 'one two').waitFor();
  await send(page, markup);
  await kept(page, markup).waitFor();
  assert.deepEqual((await keptEntries(page)).map(({ text }) => text), ['one\ntwo', markup]);
  assert.equal(await page.locator('#bubbles').locator('img, b').count(), 0);
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.equal(await box.inputValue(), '');
  assert.deepEqual(await keptEntries(page), asEntries(await world.messages(space)));
});

test('a message whose answer was lost is sent again and kept once', async (t) => {
  const space = await world.space('Lost answer', [husam]);
  const page = await openTab(t, { expected: [/net::ERR_FAILED/] });
  await openSpace(page, 'Lost answer');
  const keys = [];
  await page.route('**/messages', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.fallback();
    await route.fetch();
    return route.abort('failed');
  });
  await send(page, 'Only once, please.');
  await page.waitForFunction(() => document.getElementById('text').value === '');
  assert.equal(keys.length, 2);
  assert.equal(new Set(keys).size, 1);
  assert.deepEqual((await keptEntries(page)).map(({ text }) => text), ['Only once, please.']);
  assert.equal((await world.messages(space)).length, 1);
});

test('a refused message stays in the box, with the reason', async (t) => {
  const space = await world.space('Refused', [husam]);
  const page = await openTab(t, { expected: [/status of 4\d\d/] });
  await openSpace(page, 'Refused');
  const long = 'x'.repeat(32_769);
  await send(page, long);
  await page.locator('#composer-problem').filter({ hasText: /./ }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), long);
  assert.equal((await world.messages(space)).length, 0);
});

test('a message longer than a frame arrives whole', async (t) => {
  const space = await world.space('Long', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Long');
  const long = 'ü'.repeat(16_384);
  await world.say(space, husam, long);
  await page.locator('.entry[data-seq="1"]').waitFor();
  assert.deepEqual(await keptEntries(page), [{ seq: 1, text: long }]);
});

test('earlier messages are shown when asked for', async (t) => {
  const space = await world.space('Earlier', [husam]);
  for (let number = 1; number <= 70; number += 1) await world.say(space, husam, `number ${number}`);
  const page = await openTab(t);
  await openSpace(page, 'Earlier');
  await page.locator('.entry[data-seq="70"]').waitFor();
  assert.equal((await keptEntries(page))[0].seq, 21);
  const earlier = page.getByRole('button', { name: 'Show earlier' });
  await earlier.click();
  await page.locator('.entry[data-seq="1"]').waitFor();
  await earlier.waitFor({ state: 'hidden' });
  assert.deepEqual(await keptEntries(page), asEntries(await world.messages(space)));
});

test('it says why nobody woke, and why a run failed', async (t) => {
  const eve = await world.agent('Eve', [{ when: { contains: 'break' }, steps: [{ error: 'bad_request' }] }]);
  await world.space('Failing', [husam, eve]);
  const bob = await world.agent('Bob', []);
  await world.space('Silent', [husam, bob], { maxChainDepth: 0 });
  const page = await openTab(t);
  await openSpace(page, 'Silent');
  await send(page, 'Anyone?');
  await page.getByText('woke nobody: chain depth reached', { exact: true }).waitFor();
  await openSpace(page, 'Failing');
  await send(page, 'Please break.');
  await page.getByText(/could not finish: .*\(bad_request\)/).waitFor();
  await page.reload();
  await page.getByText(/could not finish: .*\(bad_request\)/).waitFor();
});

test('an agent at work can be stopped, and what it had not finished goes', async (t) => {
  const slow = await world.agent('Slow', [answers(ANSWER)], 2000);
  await world.space('Stopping', [husam, slow]);
  const page = await openTab(t);
  await openSpace(page, 'Stopping');
  await send(page, 'Begin.');
  await page.locator('.entry[data-state="writing"]').waitFor();
  await page.getByRole('button', { name: 'Stop Slow' }).click();
  await page.locator('#working li').waitFor({ state: 'detached' });
  await page.locator('.entry[data-state="writing"]').waitFor({ state: 'detached' });
  assert.equal((await keptEntries(page)).length, 1);
});
