// Addresses of spaces and messages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSpace, openTab } from './console_page.js';
import { api, husam, product } from './suite.js';

test('the address follows the open space, and back and forward work', async (t) => {
  const one = await api.createSpace('Address one', [husam]);
  const two = await api.createSpace('Address two', [husam]);
  const page = await openTab(t);
  const hash = () => page.evaluate(() => location.hash);
  await openSpace(page, 'Address one');
  assert.equal(await hash(), `#/s/${one.id}`);
  const spaces = page.getByRole('navigation', { name: 'Spaces' });
  await spaces.getByRole('link', { name: 'Address two' }).click();
  await page.getByRole('heading', { name: 'Address two' }).waitFor();
  assert.equal(await hash(), `#/s/${two.id}`);
  await page.goBack();
  await page.getByRole('heading', { name: 'Address one' }).waitFor();
  await page.goForward();
  await page.getByRole('heading', { name: 'Address two' }).waitFor();
  // The last open space is remembered, once it has been shown.
  await page.waitForFunction((id) => localStorage.getItem('smartspace.space') === id, two.id);
  await page.goto(`${product.base}/?again`);
  await page.getByRole('heading', { name: 'Address two' }).waitFor();
});

test('an address that comes while the list of spaces loads stays', async (t) => {
  const space = await api.createSpace('Address stays', [husam]);
  await api.createSpace('Address opened last', [husam]);
  const page = await openTab(t);
  let answer;
  const isHeld = new Promise((resolve) => (answer = resolve));
  await page.route('**/v1/spaces?*', async (route) => {
    await isHeld;
    await route.continue();
  });
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await page.locator('#status[data-status="live"]').waitFor();
  // As in the moment between a new address and its event.
  await page.evaluate((id) => history.replaceState(null, '', `#/s/${id}`), space.id);
  answer();
  const spaces = page.getByRole('navigation', { name: 'Spaces' });
  await spaces.getByRole('link', { name: 'Address stays' }).waitFor();
  await page.evaluate(() => dispatchEvent(new Event('hashchange')));
  await page.getByRole('heading', { name: 'Address stays' }).waitFor();
});

test('an address of a message loads older pages, shows it and marks it', async (t) => {
  const space = await api.createSpace('Far back', [husam]);
  for (let number = 1; number <= 130; number += 1)
    await api.postMessage(space, husam, `number ${number}`);
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await page.locator('#status[data-status="live"]').waitFor();
  await page.goto(`${product.base}/#/s/${space.id}/m/7`);
  const marked = page.locator('.entry.marked .text');
  await marked.filter({ hasText: /^number 7$/ }).waitFor();
  const isSeen = () =>
    marked.evaluate((node) => {
      const { top, bottom } = node.getBoundingClientRect();
      const frame = document.getElementById('log').getBoundingClientRect();
      return top >= frame.top && bottom <= frame.bottom;
    });
  await api.waitFor(isSeen);
  await api.postMessage(space, husam, 'one more');
  await page.locator('.entry[data-seq="131"]').waitFor();
  assert.ok(await isSeen());

  await page.goto(`${product.base}/#/s/${space.id}/m/500`);
  await page.getByRole('alert').filter({ hasText: 'Message 500 is not here' }).waitFor();
});

test('thousands of messages: the newest are on the page, and more as one scrolls up', async (t) => {
  const space = await api.createSpace('Long history', [husam]);
  for (let number = 1; number <= 420; number += 1)
    await api.postMessage(space, husam, `number ${number}`);
  const page = await openTab(t);
  await openSpace(page, 'Long history');
  const earlier = page.getByRole('button', { name: 'Show earlier' });
  const entries = page.locator('.entry');
  const first = async () => Number(await entries.first().getAttribute('data-seq'));
  await page.locator('.entry[data-seq="420"]').waitFor();
  for (let before = await first(); before > 1; before = await first()) {
    const top = await page.evaluate((seq) => {
      document.getElementById('log').scrollTop = 0;
      return document.querySelector(`[data-seq="${seq}"]`).getBoundingClientRect().top;
    }, before);
    await page.waitForFunction(
      (seq) => Number(document.querySelector('.entry').dataset.seq) < seq,
      before,
    );
    const after = await page
      .locator(`.entry[data-seq="${before}"]`)
      .evaluate((node) => node.getBoundingClientRect().top);
    assert.ok(Math.abs(after - top) < 60, `the text moved by ${after - top}`);
  }
  await earlier.waitFor({ state: 'hidden' });
  assert.equal(await entries.count(), 420);
  await page.getByRole('button', { name: 'Go to the latest' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.entry').length <= 300);
});
