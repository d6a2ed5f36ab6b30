// The page with what waits for the caller: the keyboard alone decides, and what was refused stays.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAccessible } from './accessible.js';
import { leaveTheBox, pressInTurn, waitUntilFocused } from './console_page.js';
import { openFakeRoom, sent } from './fake_server.js';

const rows = (page) => page.locator('.waiting > li');
const current = (page) => page.locator('.waiting > li[aria-current]').getByRole('heading');

/** The operator's page with two calls and a form of the space Finance. */
async function openInbox(t) {
  const page = await openFakeRoom(t);
  await page.evaluate(() => {
    const item = (callId, kind, tool, input) => ({
      id: `m-${callId}`,
      kind,
      spaceId: 'finance',
      spaceName: 'Finance',
      seq: 3,
      runId: 'r1',
      callId,
      agent: { id: 'ada', name: 'Ada' },
      tool,
      question: null,
      input,
      expiresAt: '2026-05-01T12:30:00Z',
      createdAt: '2026-05-01T11:30:00Z',
    });
    window.waiting = [
      item('c1', 'approval', 'transfer', { to: 'ACME', amount: 900 }),
      item('c2', 'form', 'ask', { title: 'When may I deploy?' }),
      item('c3', 'approval', 'send', null),
    ];
    const person = (id, name) => ({ id, name, type: 'human', role: 'member', readSeq: 0 });
    const members = [person('sarah', 'Sarah'), person('husam', 'Husam')];
    const createdAt = '2026-05-01T10:00:00Z';
    window.listed = [{ id: 'finance', name: 'Finance', seq: 0, createdAt, members }];
    // A decision ends the waiting, as on the server.
    window.respond = async () => {
      const { path } = window.sent.at(-1);
      window.waiting = window.waiting.filter(({ callId }) => !path.includes(callId));
      return { approvals: { given: 1, needed: 1 } };
    };
  });
  await page.clock.fastForward(121_000);
  await leaveTheBox(page);
  await pressInTurn(page, 'g', 'i');
  await page.getByRole('heading', { level: 1, name: 'Needs you' }).waitFor();
  await rows(page).nth(2).waitFor();
  // From then on the page moves no focus by itself, and hears the keys.
  await hasTitle(page, '(3) Needs you · Smartspace');
  return page;
}

const hasTitle = (page, title) => page.waitForFunction((title) => document.title === title, title);

const decisions = async (page) =>
  (await sent(page))
    .filter(({ path }) => path.endsWith('/decision'))
    .map(({ path, body }) => [path.split('/').at(-2), body]);

test('three keys approve the first call, once the operator has chosen a person', async (t) => {
  const page = await openInbox(t);
  const menu = rows(page).first().getByLabel('as');
  // The tab remembers the person who was chosen in the room.
  await menu.selectOption('Choose a person');
  await rows(page).first().focus();
  await page.keyboard.press('a');
  await page.getByText('Choose the person in whose name you decide.').waitFor();
  assert.deepEqual(await decisions(page), []);
  await menu.selectOption('sarah');
  assert.ok(await menu.evaluate((node) => node === document.activeElement));
  await page.getByRole('button', { name: 'Approve as Sarah' }).first().focus();
  await page.keyboard.press('a');
  await page.getByRole('status').getByText('Approved: transfer (1 of 1)').waitFor();
  assert.deepEqual(await decisions(page), [
    ['c1', { action: 'approve', inputRevision: 0, senderId: 'sarah' }],
  ]);
  assert.equal(await rows(page).count(), 2);
  await hasTitle(page, '(2) Needs you · Smartspace');
  // The focus goes on to the next row.
  await waitUntilFocused(rows(page).first());
});

test('j and k move, e edits, and a refused input stays in its text', async (t) => {
  const page = await openInbox(t);
  await rows(page).first().getByLabel('as').selectOption('husam');
  await rows(page).first().focus();
  await page.keyboard.press('j');
  assert.equal(await current(page).textContent(), 'When may I deploy?');
  await page.keyboard.press('k');
  assert.equal(await current(page).textContent(), 'Ada wants to call transfer');
  await page.keyboard.press('e');
  const text = page.getByLabel('New input as JSON');
  await text.fill('{"amount": ');
  await page.keyboard.press('Control+Enter');
  await page.getByText(/^Write the input as JSON/).waitFor();
  await text.fill('{"amount": 9}');
  await page.evaluate(() => {
    window.accept = window.respond;
    const errors = [{ pointer: '/input/amount', detail: 'expected at least 10' }];
    window.respond = async () => window.refuse(422, { title: 'Invalid', errors });
  });
  await page.keyboard.press('Control+Enter');
  await page.getByText('/input/amount: expected at least 10').waitFor();
  assert.equal(await text.inputValue(), '{"amount": 9}');
  await text.fill('{"amount": 10}');
  await page.evaluate(() => {
    window.respond = window.accept;
  });
  await page.keyboard.press('Control+Enter');
  await page.getByRole('status').getByText('Approved with the new input: transfer').waitFor();
  assert.deepEqual(await decisions(page), [
    ['c1', { action: 'edit', input: { amount: 9 }, inputRevision: 0, senderId: 'husam' }],
    ['c1', { action: 'edit', input: { amount: 10 }, inputRevision: 0, senderId: 'husam' }],
  ]);
});

test('r responds and x declines, and Escape gives up', async (t) => {
  const page = await openInbox(t);
  await rows(page).first().getByLabel('as').selectOption('sarah');
  await rows(page).first().focus();
  await page.keyboard.press('r');
  await page.keyboard.press('Escape');
  assert.equal(await page.getByLabel('Response').count(), 0);
  await page.keyboard.press('r');
  await page.keyboard.type('Use the other account.');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Answered: transfer').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.type('too late');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Declined: send').waitFor();
  assert.deepEqual(await decisions(page), [
    ['c1', { action: 'respond', text: 'Use the other account.', senderId: 'sarah' }],
    ['c3', { action: 'decline', text: 'too late', senderId: 'sarah' }],
  ]);
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/s\/finance\/m\/3$/);
});

test('a call whose input is only on its card is not approved unseen', async (t) => {
  const page = await openInbox(t);
  await rows(page).last().getByLabel('as').selectOption('sarah');
  assert.equal(
    await rows(page)
      .last()
      .getByRole('button', { name: /Approve|Edit/ })
      .count(),
    0,
  );
  await rows(page).last().focus();
  await page.keyboard.press('a');
  await page.waitForURL(/#\/s\/finance\/m\/3$/);
  assert.deepEqual(await decisions(page), []);
});

test('a held key decides one call, and typed letters decide none', async (t) => {
  const page = await openInbox(t);
  await page.evaluate(() => (window.waiting[1].kind = 'approval'));
  await rows(page).first().getByLabel('as').selectOption('sarah');
  await rows(page).first().focus();
  await page.keyboard.down('a');
  await page.keyboard.down('a');
  await page.keyboard.up('a');
  await page.getByRole('status').getByText('Approved: transfer').waitFor();
  assert.equal((await decisions(page)).length, 1);
  await page.keyboard.press('x');
  await page.keyboard.type('aaa');
  assert.equal((await decisions(page)).length, 1);
});

test('a key right after the one that opens a text decides nothing', async (t) => {
  const page = await openInbox(t);
  await rows(page).first().getByLabel('as').selectOption('sarah');
  await rows(page).first().focus();
  await page.evaluate(() => {
    for (const key of ['x', 'a'])
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  });
  await page.locator('.decision-text textarea').waitFor();
  assert.equal((await decisions(page)).length, 0);
});

test('the page has no accessibility faults, also with a text and when it is empty', async (t) => {
  const page = await openInbox(t);
  await isAccessible(page);
  await rows(page).first().focus();
  await page.keyboard.press('e');
  await page.getByLabel('New input as JSON').waitFor();
  await isAccessible(page);
  await page.keyboard.press('Escape');
  await page.evaluate(() => (window.waiting = []));
  await page.clock.fastForward(121_000);
  await page.getByText(/^Nothing waits for you/).waitFor();
  await isAccessible(page);
});
