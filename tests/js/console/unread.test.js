// Unread messages: counts in the list, a line in the timeline, and the read position.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab, signInAs, storedEntry, waitUntilTaken } from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

const spaceButton = (page, name) =>
  page.getByRole('navigation', { name: 'Spaces' }).getByRole('link', { name });

test('unread messages are counted, marked with a line, and read at the end', async (t) => {
  const reader = await api.createPerson('Reader');
  const quiet = await api.createSpace('Quiet', [reader]);
  const space = await api.createSpace('Busy', [husam, reader]);
  const page = await openTab(t);
  // Who signs in without an address opens the newest space, and reads it.
  await signInAs(page, reader, `#/s/${quiet.id}`);
  await page.getByRole('heading', { name: 'Quiet' }).waitFor();
  for (const text of ['one', 'two']) await api.postMessage(space, husam, text);
  const button = spaceButton(page, /^Busy/);
  await button.filter({ hasText: '2 unread' }).waitFor();
  await page.waitForFunction(() => document.title === '(2) Quiet · Smartspace');
  await api.postMessage(space, husam, 'three');
  await button.filter({ hasText: '3 unread' }).waitFor();

  await button.click();
  // The last message may show before the page of messages is loaded.
  for (const text of ['one', 'three']) await storedEntry(page, text).waitFor();
  await page.locator('.line.unread').waitFor();
  const order = await page
    .locator('.line.unread, .entry .text')
    .evaluateAll((nodes) => nodes.map(({ textContent }) => textContent));
  assert.deepEqual(order, ['New messages', 'one', 'two', 'three']);
  await button.filter({ hasText: 'unread' }).waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.title === 'Busy · Smartspace');
  // The page tells the server a moment later, and a reload would end that call.
  await api.waitFor(async () => {
    const { members } = await api.space(space);
    return members.find(({ id }) => id === reader.id).readSeq === 3;
  });
  await page.reload();
  for (const text of ['one', 'three']) await storedEntry(page, text).waitFor();
  assert.equal(await page.locator('.line.unread').count(), 0);
});

test('many unread messages are read from the line on', async (t) => {
  const reader = await api.createPerson('Late reader');
  const space = await api.createSpace('Flood', [husam, reader]);
  for (let number = 1; number <= 40; number += 1)
    await api.postMessage(space, husam, `number ${number}`);
  const page = await openTab(t);
  await signInAs(page, reader, `#/s/${space.id}`);
  await storedEntry(page, 'number 1').waitFor();
  await page.getByText('New messages').waitFor();
  const button = spaceButton(page, /^Flood/);
  await button.filter({ hasText: '40 unread' }).waitFor();
  await page.getByRole('button', { name: 'Go to the latest' }).click();
  await button.filter({ hasText: 'unread' }).waitFor({ state: 'detached' });
});

test('the operator reads on from the first message that it has not seen', async (t) => {
  const space = await api.createSpace('Watched', [husam]);
  await api.postMessage(space, husam, 'seen');
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilTaken(page);
  await page.goto(`${product.base}/#/s/${space.id}`);
  await storedEntry(page, 'seen').waitFor();
  await api.waitFor(async () => (await api.space(space)).looked?.seq === 1);
  await page.goto(`${product.base}/#/usage`);
  for (let number = 1; number <= 40; number += 1)
    await api.postMessage(space, husam, `number ${number}`);
  await page.reload();
  await page.goto(`${product.base}/#/s/${space.id}`);
  await storedEntry(page, 'number 1').waitFor();
  await page.getByRole('button', { name: 'Go to the latest' }).waitFor();
  await page.waitForFunction(
    () => document.querySelector('.line.unread').getBoundingClientRect().top >= 0,
  );
});

test('a space that is made elsewhere appears, and days are marked', async (t) => {
  const page = await openTab(t);
  await api.createSpace('Before', [sarah]);
  await signInAs(page, sarah);
  const space = await api.createSpace('Made elsewhere', [husam, sarah]);
  await spaceButton(page, 'Made elsewhere').click();
  const day = () => new Date().toDateString();
  const before = day();
  await api.postMessage(space, husam, 'Good morning.');
  await storedEntry(page, 'Good morning.').waitFor();
  const [line, ...others] = await page.locator('.line.day').allTextContents();
  // At midnight the day of the message ends.
  if (before === day()) assert.equal(line, 'Today');
  else assert.match(line, /^(Today|Yesterday)$/);
  assert.deepEqual(others, []);
});
