// The list of spaces: its rows, its keys, and the spaces without news.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAccessible } from './accessible.js';
import { openTab, signInAs, waitUntilFocused } from './console_page.js';
import { api, husam } from './suite.js';

const spaces = (page) => page.getByRole('navigation', { name: 'Spaces', exact: true });
const row = (page, name) => spaces(page).getByRole('link', { name });
const heightOf = async (locator) => (await locator.boundingBox()).height;

/** A person in this many spaces, `Room 1` being the oldest. */
async function reader(name, count) {
  const person = await api.createPerson(name);
  const made = [];
  for (let number = 1; number <= count; number += 1)
    made.push(await api.createSpace(`Room ${number}`, [husam, person]));
  return { person, made };
}

test('a row is one line, and two with news: who wrote what, and when', async (t) => {
  const { person, made } = await reader('Reads rows', 2);
  const long = 'Abstimmung der Veröffentlichungszeitpunkte für alle Kunden';
  await api.createSpace(long, [husam, person]);
  const page = await openTab(t);
  // Who signs in without an address opens the newest space, and reads it.
  await signInAs(page, person, `#/s/${made[1].id}`);
  await page.getByRole('heading', { name: 'Room 2', exact: true }).waitFor();
  await api.postMessage(made[0], husam, 'we are down, help');
  await row(page, /^Room 1/)
    .getByText('Husam: we are down, help')
    .waitFor();
  assert.match(
    await row(page, /^Room 1/)
      .locator('time')
      .innerText(),
    /^\d\d:\d\d/,
  );
  assert.equal(await heightOf(row(page, long)), 30);
  assert.equal(await heightOf(row(page, 'Room 2')), 30);
  const size = await row(page, 'Room 2').evaluate((node) => getComputedStyle(node).fontSize);
  assert.equal(size, '14px');
  await isAccessible(page);
});

test('a mention is marked in the list', async (t) => {
  const { person, made } = await reader('Mentioned', 2);
  const page = await openTab(t);
  // Who signs in without an address opens the newest space, and reads it.
  await signInAs(page, person, `#/s/${made[1].id}`);
  await page.getByRole('heading', { name: 'Room 2', exact: true }).waitFor();
  await api.postMessage(made[0], husam, 'Look, @Mentioned');
  const badge = row(page, /^Room 1/).locator('.unread-count.mentioned');
  await badge.filter({ hasText: '@1 1 unread, 1 with your name' }).waitFor();
});

test('a row is a link: another tab opens its space', async (t) => {
  const { person, made } = await reader('Opens tabs', 2);
  const page = await openTab(t);
  await signInAs(page, person, `#/s/${made[1].id}`);
  const opened = page.context().waitForEvent('page');
  await row(page, 'Room 1').click({ button: 'middle' });
  assert.match((await opened).url(), new RegExp(`#/s/${made[0].id}$`));
  assert.match(page.url(), new RegExp(`#/s/${made[1].id}$`));
});

test('the list is one stop of the Tab key, and the arrows move in it', async (t) => {
  const { person, made } = await reader('Uses keys', 4);
  const page = await openTab(t);
  await signInAs(page, person, `#/s/${made[1].id}`);
  await row(page, 'Room 2').focus();
  await page.keyboard.press('ArrowDown');
  await waitUntilFocused(row(page, 'Room 1'));
  await page.keyboard.press('Home');
  await waitUntilFocused(row(page, 'Room 4'));
  assert.equal(await spaces(page).locator('[tabindex="0"]').count(), 1);
  await page.keyboard.press('Tab');
  assert.equal(await spaces(page).locator(':focus').count(), 0);
  await page.keyboard.press('Shift+Tab');
  await waitUntilFocused(row(page, 'Room 4'));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Room 4' }).waitFor();
});

test('further spaces without news are folded', async (t) => {
  const { person, made } = await reader('In many', 42);
  const page = await openTab(t);
  await signInAs(page, person, `#/s/${made[2].id}`);
  const more = spaces(page).getByRole('button', { name: '29 more without news' });
  await more.waitFor();
  // The open one is among them.
  assert.equal(await spaces(page).getByRole('link').count(), 13);
  await more.click();
  assert.equal(await spaces(page).getByRole('link').count(), 42);
  await spaces(page).getByRole('button', { name: 'Fewer' }).click();
  assert.equal(await spaces(page).getByRole('link').count(), 13);
  await isAccessible(page);
});
