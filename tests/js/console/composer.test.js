// The box that writes a message: whose name it uses, and what Esc stops.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule } from '../api_client.js';
import { isAccessible } from './accessible.js';
import {
  openTab,
  pressInTurn,
  send,
  signInAs,
  storedEntry,
  waitUntilFocused,
  waitUntilTaken,
} from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

const box = (page) => page.getByRole('textbox', { name: 'Message' });
const LONG = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');

test('the operator writes in nobody’s name until they choose one, for the tab', async (t) => {
  const space = await api.createSpace('Whose name', [husam, sarah]);
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await page.waitForURL((url) => !url.hash.startsWith('#key='));
  await page.goto(`${product.base}/#/s/${space.id}`);
  const menu = page.getByRole('combobox', { name: 'as' });
  await menu.waitFor();
  assert.equal(await menu.inputValue(), '');
  await box(page).fill('Hello');
  await box(page).press('Enter');
  await waitUntilFocused(menu);
  assert.equal(await box(page).inputValue(), 'Hello');
  const question = page.getByText('Choose in whose name you write', { exact: true });
  await question.waitFor();
  // The choice sends what waited for it.
  await menu.selectOption('Sarah');
  await storedEntry(page, 'Hello').waitFor();
  await waitUntilFocused(box(page));
  assert.equal(await question.count(), 0);
  assert.equal(await box(page).inputValue(), '');
  const [{ sender }] = await api.messages(space);
  assert.equal(sender.id, sarah.id);
  await page.reload();
  await menu.waitFor();
  assert.equal(await menu.inputValue(), sarah.id);
});

test('a message to try is sent by the choice of a person, unless it is given up', async (t) => {
  const quiet = await api.createAgent('Quiet', []);
  const space = await api.createSpace('Starters', [husam, sarah, quiet]);
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilTaken(page);
  await page.goto(`${product.base}/#/s/${space.id}`);
  const starter = page.getByRole('button', { name: /^Hello! Who is here\?/ });
  const menu = page.getByRole('combobox', { name: 'as' });
  const question = page.getByText('Choose in whose name you write', { exact: true });
  await starter.click();
  await question.waitFor();
  await waitUntilFocused(menu);
  // Whoever goes on writing has given it up.
  await box(page).click();
  await question.waitFor({ state: 'detached' });
  await menu.selectOption('Sarah');
  await menu.selectOption('');
  await starter.click();
  await question.waitFor();
  assert.deepEqual(await api.messages(space), []);
  await menu.selectOption('Husam');
  await storedEntry(page, 'Hello! Who is here?').waitFor();
  await waitUntilFocused(box(page));
  const messages = await api.messages(space);
  assert.deepEqual(
    messages.map(({ sender }) => sender.id),
    [husam.id],
  );
});

test('the box is low, and has the focus when a space opens', async (t) => {
  const space = await api.createSpace('Low', [husam, sarah]);
  const page = await openTab(t);
  await signInAs(page, husam, `#/s/${space.id}`);
  await waitUntilFocused(box(page));
  const height = await page.locator('#composer').evaluate((node) => node.offsetHeight);
  assert.ok(height <= 100, `${height} px`);
});

test('Esc of a member stops an answer to somebody else only if pressed again', async (t) => {
  const slow = await api.createAgent('Slow', [answerRule(LONG)], 60);
  const space = await api.createSpace('Not mine', [husam, sarah, slow]);
  const [his, hers] = [await openTab(t), await openTab(t)];
  await signInAs(his, husam, `#/s/${space.id}`);
  await signInAs(hers, sarah, `#/s/${space.id}`);
  await send(his, 'Tell me a lot.');
  await hers.getByText('word3').waitFor();
  await box(hers).press('Escape');
  await hers.getByText('Press Esc again to stop answers to others').waitFor();
  await hers.getByText('word12').waitFor();
  await box(hers).press('Escape');
  await his.getByText('unfinished', { exact: true }).waitFor();
});

test('several agents at work are one line, and one button stops them', async (t) => {
  const agents = [];
  for (const name of ['One', 'Two', 'Three'])
    agents.push(await api.createAgent(name, [answerRule(LONG)], 200));
  const space = await api.createSpace('Busy', [husam, ...agents]);
  const page = await openTab(t);
  await signInAs(page, husam, `#/s/${space.id}`);
  await send(page, 'Go.');
  const line = page.locator('#working li');
  await line.getByText(/^3 agents at work: /).waitFor();
  assert.equal(await line.count(), 1);
  await line.getByRole('button', { name: 'Stop all agents' }).click();
  await waitUntilFocused(box(page));
  await line.waitFor({ state: 'detached' });
  assert.ok((await api.runs(space)).every(({ status }) => status === 'canceled'));
});

test('Esc leaves the box, and single keys then move, open and explain', async (t) => {
  const space = await api.createSpace('Keys', [husam, sarah]);
  for (const text of ['First.', 'Second.', 'Third.']) await api.postMessage(space, husam, text);
  const page = await openTab(t);
  await signInAs(page, sarah, `#/s/${space.id}`);
  await storedEntry(page, 'Third.').waitFor();
  await waitUntilFocused(box(page));
  await page.keyboard.press('Escape');
  await waitUntilFocused(page.locator('.entry[data-seq="3"]'));
  await page.keyboard.press('k');
  await waitUntilFocused(page.locator('.entry[data-seq="2"]'));
  await page.keyboard.press('j');
  await waitUntilFocused(page.locator('.entry[data-seq="3"]'));
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keys' });
  await dialog.getByText('show these keys').waitFor();
  await isAccessible(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await waitUntilFocused(page.locator('.entry[data-seq="3"]'));
  await page.keyboard.press('Escape');
  await waitUntilFocused(box(page));
  // In the box they are text.
  await page.keyboard.type('jk?gi');
  assert.equal(await box(page).inputValue(), 'jk?gi');
  await page.keyboard.press('Escape');
  await pressInTurn(page, 'g', 'i');
  await page.getByRole('heading', { name: 'Needs you', level: 1 }).waitFor();
});
