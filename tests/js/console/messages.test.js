// Messages in a space: sending, live answers, dispatch notes and failures.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule } from '../api_client.js';
import { asEntries, openSpace, openTab, send, storedEntries, storedEntry } from './console_page.js';
import { api, husam } from './suite.js';

const ANSWER =
  'The harbour opens at seven in the morning and closes at nine in the evening, ' +
  'every day of the week but Sunday, and on Sunday at noon.';

// The lines below a message that say what became of it.
const rollCall = (page, seq) => page.locator(`.entry[data-seq="${seq}"] .roll-call li`);

test('an answer grows letter by letter and becomes one message in place', async (t) => {
  const ada = await api.createAgent('Ada', [answerRule(ANSWER)], 60);
  const space = await api.createSpace('Growing', [husam, ada]);
  const page = await openTab(t);
  await openSpace(page, 'Growing');
  await page.evaluate(recordGrowth);
  await send(page, 'When does the harbour open?');
  await storedEntry(page, ANSWER).waitFor();

  const { shown, isSameNode } = await page.evaluate((answer) => {
    const entry = [...document.querySelectorAll('.entry[data-state="stored"]')].find((node) =>
      node.textContent.startsWith(answer),
    );
    return { shown: window.shown, isSameNode: window.written === entry };
  }, ANSWER);
  const growing = shown.filter(({ isStored }) => !isStored).map(({ text }) => text);
  assert.ok(growing.length >= 5, `the text grew in ${growing.length} steps only`);
  for (const text of growing)
    assert.ok(ANSWER.startsWith(text), `not a prefix of the answer: ${text}`);
  const lengths = shown.map(({ text }) => text.length);
  assert.deepEqual(
    lengths,
    [...lengths].sort((one, other) => one - other),
    'the text shrank',
  );
  assert.ok(
    shown.every(({ count }) => count === 1),
    'the answer was shown twice or not at all',
  );
  assert.ok(isSameNode, 'the message did not replace its stream in place');
  assert.deepEqual(await storedEntries(page), asEntries(await api.messages(space)));
  await rollCall(page, 1)
    .filter({ hasText: /^Ada spoke$/ })
    .waitFor();
  await page.locator('#working li').waitFor({ state: 'detached' });
});

// Runs in the page: records each state of the agent's text, from its first letters on.
function recordGrowth() {
  window.shown = [];
  const look = () => {
    const entries = [...document.querySelectorAll('.bubble.agent .entry')];
    if (entries.length === 0 && window.shown.length === 0) return;
    window.written ??= entries[0];
    const text = entries[0]?.querySelector('.text')?.textContent ?? '';
    const isStored = entries[0]?.dataset.state === 'stored';
    const last = window.shown.at(-1);
    if (!last || last.text !== text || last.isStored !== isStored)
      window.shown.push({ text, isStored, count: entries.length });
  };
  new MutationObserver(look).observe(document.getElementById('bubbles'), {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
  });
}

test('messages of one run share a bubble', async (t) => {
  const ada = await api.createAgent('Ada', [answerRule('First part.', 'Second part.')]);
  await api.createSpace('One bubble', [husam, ada]);
  const page = await openTab(t);
  await openSpace(page, 'One bubble');
  await send(page, 'Tell me in two parts.');
  await storedEntry(page, 'Second part.').waitFor();
  const bubble = page.getByRole('article').filter({ hasText: 'First part.' });
  assert.deepEqual(await bubble.locator('.text').allTextContents(), [
    'First part.',
    'Second part.',
  ]);
  assert.equal(await page.getByRole('article').count(), 2);
});

test('Enter sends, Shift+Enter makes a new line, and markup is escaped', async (t) => {
  const space = await api.createSpace('Plain text', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Plain text');
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.pressSequentially('one');
  await box.press('Shift+Enter');
  await box.pressSequentially('two');
  await box.press('Enter');
  const markup = '<img src="x" onerror="window.harmed = true"><b>bold</b>';
  await storedEntry(page, 'one two').waitFor();
  await send(page, markup);
  await storedEntry(page, markup).waitFor();
  assert.deepEqual(
    (await storedEntries(page)).map(({ text }) => text),
    ['one\ntwo', markup],
  );
  assert.equal(await page.locator('#bubbles').locator('img, b').count(), 0);
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.equal(await box.inputValue(), '');
  assert.deepEqual(await storedEntries(page), asEntries(await api.messages(space)));
});

test('a message whose response is lost is retried with the same idempotency key', async (t) => {
  const space = await api.createSpace('Lost answer', [husam]);
  const page = await openTab(t, { expected: [/net::ERR_FAILED/] });
  await openSpace(page, 'Lost answer');
  const keys = [];
  let repeated;
  const isRepeated = new Promise((resume) => (repeated = resume));
  await page.route('**/messages', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) {
      repeated();
      return route.fallback();
    }
    await route.fetch();
    return route.abort('failed');
  });
  await send(page, 'Only once, please.');
  await storedEntry(page, 'Only once, please.').waitFor();
  await page.locator('.entry[data-state="pending"]').waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '');
  await isRepeated;
  assert.equal(keys.length, 2);
  assert.equal(new Set(keys).size, 1);
  assert.deepEqual(
    (await storedEntries(page)).map(({ text }) => text),
    ['Only once, please.'],
  );
  assert.equal((await api.messages(space)).length, 1);
});

test('a refused message shows the reason and can be sent again or discarded', async (t) => {
  const space = await api.createSpace('Refused', [husam]);
  const page = await openTab(t, { expected: [/status of 4\d\d/] });
  await openSpace(page, 'Refused');
  const long = 'x'.repeat(32_769);
  await send(page, long);
  const refused = page.locator('.entry[data-state="pending"]');
  await refused.getByRole('alert').filter({ hasText: /./ }).waitFor();
  assert.equal(await refused.locator('.text').textContent(), long);
  await refused.getByRole('button', { name: 'Send again' }).click();
  await refused.getByRole('button', { name: 'Discard' }).click();
  await refused.waitFor({ state: 'detached' });
  assert.equal((await api.messages(space)).length, 0);
});

test('a message longer than a frame arrives complete', async (t) => {
  const space = await api.createSpace('Long', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Long');
  const long = 'ü'.repeat(16_384);
  await api.postMessage(space, husam, long);
  await page.locator('.entry[data-seq="1"]').waitFor();
  assert.deepEqual(await storedEntries(page), [{ seq: 1, text: long }]);
});

test('earlier messages load as the reader comes near the top', async (t) => {
  const space = await api.createSpace('Earlier', [husam]);
  for (let number = 1; number <= 70; number += 1)
    await api.postMessage(space, husam, `number ${number}`);
  const page = await openTab(t, { expected: [/status of 403/] });
  const older = (url) => /\/messages\?before=\d{1,3}&/.test(url.href);
  await openSpace(page, 'Earlier');
  await page.locator('.entry[data-seq="70"]').waitFor();
  await page.locator('.entry').nth(49).waitFor({ state: 'attached' });
  const [{ seq: first }] = await storedEntries(page);
  assert.ok(first > 1);
  await page.route(older, (route) => route.fulfill({ status: 403, json: {} }));
  const button = page.getByRole('button', { name: 'Show earlier' });
  const failed = page.getByRole('alert').filter({ hasText: 'The server answered 403.' });
  const topOf = (node) => node.getBoundingClientRect().top;

  // Nothing is tried again by itself.
  await page.locator('#log').evaluate((log) => (log.scrollTop = 100));
  await failed.waitFor();
  await page.unroute(older);
  assert.equal((await storedEntries(page))[0].seq, first);

  const shown = page.locator(`.entry[data-seq="${first}"]`);
  await button.focus();
  const before = await shown.evaluate(topOf);
  await page.keyboard.press('Enter');
  await page.locator('.entry[data-seq="1"]').waitFor({ state: 'attached' });
  const moved = (await shown.evaluate(topOf)) - before;
  await failed.waitFor({ state: 'detached' });
  await button.waitFor({ state: 'hidden' });
  assert.deepEqual(await storedEntries(page), asEntries(await api.messages(space)));
  assert.ok(Math.abs(moved) < 60, `the text moved by ${moved}`);

  await page.reload();
  await page.locator('.entry').nth(49).waitFor({ state: 'attached' });
  assert.equal(await page.locator('.entry[data-seq="1"]').count(), 0);
  await page.locator('#log').hover();
  await page.mouse.wheel(0, -10_000);
  await page.locator('.entry[data-seq="1"]').waitFor({ state: 'attached' });
});

test('the page shows why no agent woke and why a run failed', async (t) => {
  const eve = await api.createAgent('Eve', [
    { when: { contains: 'break' }, steps: [{ error: 'bad_request' }] },
  ]);
  await api.createSpace('Failing', [husam, eve]);
  const bob = await api.createAgent('Bob', []);
  await api.createSpace('Silent', [husam, bob], { maxChainDepth: 0 });
  const page = await openTab(t);
  await openSpace(page, 'Silent');
  await send(page, 'Anyone?');
  await page.getByText('woke nobody: chain depth reached', { exact: true }).waitFor();
  await openSpace(page, 'Failing');
  await send(page, 'Please break.');
  await page.getByText(/Eve cannot answer: .*\(bad_request\)/).waitFor();
  await page.reload();
  await page.getByText(/Eve cannot answer: .*\(bad_request\)/).waitFor();
});

test('stopping an agent keeps its unfinished text and says so', async (t) => {
  const slow = await api.createAgent('Slow', [answerRule(ANSWER)], 2000);
  await api.createSpace('Stopping', [husam, slow]);
  const page = await openTab(t);
  await openSpace(page, 'Stopping');
  await send(page, 'Begin.');
  await page.locator('.entry[data-state="writing"]').waitFor();
  await page.getByRole('button', { name: 'Stop Slow' }).click();
  await page.locator('#working li').waitFor({ state: 'detached' });
  const stopped = page.locator('.entry[data-state="stored"][data-seq="2"]');
  await stopped.getByText('unfinished', { exact: true }).waitFor();
  const before = await storedEntries(page);
  assert.equal(before.length, 2);
  assert.ok(before[1].text !== '' && ANSWER.startsWith(before[1].text.trim()), before[1].text);
  await page.reload();
  await stopped.getByText('unfinished', { exact: true }).waitFor();
  assert.deepEqual(await storedEntries(page), before);
});

test('the page shows the choice of a router, its reason, and its failure', async (t) => {
  const agents = [];
  for (const name of ['Cleo', 'Dan', 'Finn']) agents.push(await api.createAgent(name, []));
  const named = (name, reason) => ({ name, reason });
  const choose = {
    when: { contains: 'bill' },
    agents: [named('Cleo', 'It is about a bill.')],
    others: [named('Dan', '<b>No</b> journey.')],
  };
  const script = { rules: [{ choose }] };
  const router = { model: { provider: 'scripted', name: 'router', script } };
  await api.createSpace('Routed', [husam, ...agents], {
    triggerPolicy: 'router',
    gate: { mode: 'off' },
    router,
  });
  const page = await openTab(t);
  await openSpace(page, 'Routed');
  await page.getByRole('textbox', { name: 'Message' }).fill('A bill!');
  await page.getByText('the router chooses from 3 agents').waitFor();
  await send(page, 'A bill!');
  const first = rollCall(page, 1);
  await first.getByRole('button', { name: /^1 silent, 2 not woken/ }).click();
  const reasons = page.getByRole('list', { name: 'The reasons' }).getByRole('listitem');
  for (const words of [
    /^Cleo.*chosen: It is about a bill$/,
    /^Dan.*not woken: <b>No<\/b> journey$/,
    /^Finn.*not woken: the router chose Cleo$/,
  ])
    await reasons.filter({ hasText: words }).waitFor();
  await send(page, 'Anything else?');
  const second = rollCall(page, 2);
  await second.filter({ hasText: 'the router did not answer: it called no tool' }).waitFor();
  await second.filter({ hasText: '3 silent' }).waitFor();
});
