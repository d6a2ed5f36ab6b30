// The page of a space: its first screen, how it is reached, and what one can do in it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule } from '../api_client.js';
import { isAccessible, isAccessibleAt } from './accessible.js';
import {
  openSpace,
  openTab,
  send,
  signInAs,
  storedEntry,
  waitUntilFocused,
  waitUntilLive,
} from './console_page.js';
import { deliver, openFakeRoom } from './fake_server.js';
import { api, husam, product, sarah } from './suite.js';

const PHONE = { width: 390, height: 844 };
const heading = (page, name) => page.getByRole('heading', { level: 1, name });

test('the first screen says who is here, and one click starts a conversation', async (t) => {
  const page = await openTab(t);
  await openSpace(page, 'Welcome');
  const log = page.getByRole('region', { name: 'Timeline' });
  // The agents come in the order of their ids, which may be of the same millisecond.
  const agents = /^Robin is here, with the agents (\w+), (\w+), and (\w+)\.$/;
  const [, ...names] = agents.exec(await log.getByText(agents).innerText());
  assert.deepEqual(names.sort(), ['Guide', 'Librarian', 'Observer']);
  for (const offer of ['Hello! Who is here?', '@Librarian what day is it?'])
    await log.getByRole('button', { name: offer }).waitFor();
  await log.getByRole('button', { name: 'Time for a coffee?' }).click();
  await log.getByRole('button', { name: 'Yes, please' }).waitFor();
  await page.getByRole('button', { name: '2 silent' }).click();
  const reasons = page.getByRole('list', { name: 'The reasons' });
  await reasons.getByRole('listitem').filter({ hasText: 'Observer“I only watch.”' }).waitFor();
  assert.equal(await log.getByRole('button', { name: 'Hello! Who is here?' }).count(), 0);
});

test('the first screen says what its agents do, and which models have keys', async (t) => {
  await api.createSpace('No messages', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Help desk');
  const log = page.getByRole('region', { name: 'Timeline' });
  await log.getByRole('heading', { name: 'A room for people and agents' }).waitFor();
  await log.getByText(/a key/).waitFor();
  await log.getByText('see who answers, and why not the others').waitFor();
  await log.getByRole('list', { name: 'Agents' }).getByRole('paragraph').first().waitFor();
  await isAccessible(page);
  await openSpace(page, 'No messages');
  await log.getByText('People talk here.').waitFor();
});

test('an address of nothing says so, and leads on', async (t) => {
  const page = await openTab(t, { expected: [/404/] });
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  for (const [address, title] of [
    ['#/no/such/page', 'There is no such page'],
    ['#/s/01a2b3c4d5e6f7', 'There is no such space'],
  ]) {
    await page.goto(`${product.base}/${address}`);
    await heading(page, title).waitFor();
    await isAccessible(page);
    await page.getByRole('link', { name: 'Go to the spaces' }).click();
    await page.waitForURL(/#\/s\/.{26}/);
  }
});

test('a space without people or agents offers to add some', async (t) => {
  const ana = await api.createAgent('Ana', []);
  const empty = await api.createSpace('No people', [ana]);
  const quiet = await api.createSpace('No agents', [husam]);
  const page = await openTab(t);
  for (const [space, name, offer] of [
    [empty, 'No people', 'Add people'],
    [quiet, 'No agents', 'Add agents'],
  ]) {
    await openSpace(page, name);
    await page.getByRole('link', { name: offer }).click();
    await page.waitForURL(`**/#/s/${space.id}/settings`);
  }
});

test('the head names the members and the agents that a message asks', async (t) => {
  const ana = await api.createAgent('Ana', []);
  await api.createSpace('Named only', [husam, sarah, ana], { triggerPolicy: 'mention' });
  const page = await openTab(t);
  await openSpace(page, 'Named only');
  await page.getByText('2 people · 1 agent · named agents are asked').waitFor();
  const members = page.getByRole('list', { name: 'Members' }).getByRole('listitem');
  assert.deepEqual((await members.allInnerTexts()).map((text) => text.split('\n').at(-1)).sort(), [
    'Ana, agent',
    'Husam, person',
    'Sarah, person',
  ]);
});

test('a card says what a member does, and begins a message to it', async (t) => {
  const ana = await api.createAgent('Ana', [answerRule('Here I am.')]);
  await api.request('PATCH', `/v1/entities/${ana.id}`, {
    agent: { description: 'Plans releases.' },
  });
  const space = await api.createSpace('With cards', [husam, ana]);
  await api.postMessage(space, husam, 'Hello?');
  const page = await openTab(t);
  await openSpace(page, 'With cards');
  await page.getByRole('button', { name: 'Ana, agent' }).click();
  const card = page.getByRole('dialog', { name: 'Ana' });
  await card.getByText('Plans releases.').waitFor();
  await card.getByText('It may read and write messages.').waitFor();
  await card.getByRole('button', { name: 'Pause Ana' }).click();
  await card.getByText(/^It is paused\./).waitFor();
  await isAccessible(page);
  await card.getByRole('button', { name: 'Message' }).click();
  const box = page.getByRole('textbox', { name: 'Message' });
  assert.equal(await box.inputValue(), '@Ana ');
  await page.locator('.bubble .name', { hasText: 'Husam' }).click();
  await page.getByRole('dialog', { name: 'Husam' }).getByText('Person').waitFor();
});

test('Escape stops the agents, and what they wrote stays', async (t) => {
  const words = Array.from({ length: 400 }, (_, n) => `word${n}`).join(' ');
  const slow = await api.createAgent('Slow', [answerRule(words)], 50);
  await api.createSpace('Stopped', [husam, slow]);
  const page = await openTab(t);
  await openSpace(page, 'Stopped');
  await send(page, 'Tell me a lot.');
  await page.getByText('word3').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('unfinished', { exact: true }).waitFor();
  await page.getByText('word3').waitFor();
});

test('a member stops all agents of a space and pauses it, after a question', async (t) => {
  const words = Array.from({ length: 400 }, (_, n) => `word${n}`).join(' ');
  const slow = await api.createAgent('Slow too', [answerRule(words)], 50);
  const space = await api.createSpace('Paused at once', [husam, slow]);
  await api.createSpace('Nobody to stop', [husam]);
  const page = await openTab(t);
  await signInAs(page, husam, `#/s/${space.id}`);
  await send(page, 'Tell me a lot.');
  await page.getByText('word3').waitFor();
  const stop = page.getByRole('button', { name: 'Stop all and pause' });
  page.once('dialog', (dialog) => dialog.dismiss());
  await stop.click();
  assert.ok(!(await api.space(space)).paused);
  const questions = [];
  page.once('dialog', (dialog) => {
    questions.push(dialog.message());
    return dialog.accept();
  });
  await stop.click();
  await page.getByRole('main').getByText('paused', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Paused at once paused' }).waitFor();
  await stop.waitFor({ state: 'detached' });
  assert.match(questions[0], /^Stop all agents in Paused at once and pause it\?/);
  await page.getByText('unfinished', { exact: true }).waitFor();
  assert.equal((await api.space(space)).paused, true);
  assert.ok((await api.runs(space)).every(({ status }) => status === 'canceled'));
  await waitUntilFocused(page.getByRole('textbox', { name: 'Message', exact: true }));
  await isAccessible(page);
  // Only owners end the pause.
  const resume = page.getByRole('button', { name: 'Resume', exact: true });
  assert.equal(await resume.count(), 0);
  await api.setRole(space, husam, 'owner');
  await resume.click();
  await stop.waitFor();
  assert.equal((await api.space(space)).paused, false);
  await page.getByRole('link', { name: 'Nobody to stop' }).click();
  await page.getByText('1 person · no agents').waitFor();
  assert.equal(await stop.count(), 0);
});

test('on a phone the head has room for the name: its actions are in a menu', async (t) => {
  const words = Array.from({ length: 400 }, (_, n) => `word${n}`).join(' ');
  const slow = await api.createAgent('Slow on a phone', [answerRule(words)], 50);
  const space = await api.createSpace('Deployments 24/7', [husam, slow]);
  const page = await openTab(t, { viewport: { width: 360, height: 740 } });
  await signInAs(page, husam, `#/s/${space.id}`);
  const title = page.getByRole('heading', { level: 1, name: 'Deployments 24/7' });
  await title.waitFor();
  const isWhole = await title.evaluate((node) => node.scrollWidth <= node.clientWidth);
  assert.equal(isWhole, true);
  const stop = page.getByRole('button', { name: 'Stop all and pause' });
  const settings = page.getByRole('link', { name: 'Members' });
  assert.deepEqual([await stop.count(), await settings.count()], [0, 0]);
  const menu = page.getByRole('button', { name: 'Space menu' });
  await menu.click();
  await stop.waitFor();
  await settings.waitFor();
  await page.keyboard.press('Escape');
  await settings.waitFor({ state: 'hidden' });

  // While agents are at work, the way to stop them is in sight.
  await send(page, 'Tell me a lot.');
  await stop.waitFor();
  page.once('dialog', (dialog) => dialog.accept());
  await stop.click();
  await page.getByRole('main').locator('.badge.paused').waitFor();
  await menu.click();
  await isAccessibleAt(page, { width: 360, height: 740 });
  await settings.click();
  await page.waitForURL(/settings$/);
});

test('a guest is not offered to stop all agents', async (t) => {
  const gus = { id: 'gus', name: 'Gus', type: 'human' };
  const me = { kind: 'entity', entity: gus, capabilities: [] };
  const page = await openFakeRoom(t, { data: { me } });
  const stop = page.getByRole('button', { name: 'Stop all and pause' });
  await stop.waitFor();
  const guest = { ...gus, role: 'member', readSeq: 0, guest: true };
  await deliver(page, (member) => ({ type: 'member.joined', member }), guest);
  await stop.waitFor({ state: 'detached' });
});

test('a failed run can be retried where it failed', async (t) => {
  const fails = { steps: [{ error: 'bad_request' }] };
  const fay = await api.createAgent('Fay', [fails]);
  const space = await api.createSpace('Retried', [husam, fay]);
  await api.postMessage(space, husam, 'Try this.');
  const page = await openTab(t);
  await openSpace(page, 'Retried');
  const failed = page.locator('.entry[data-state="failed"]');
  await failed.first().hover();
  await failed.first().getByRole('button', { name: 'Retry' }).click();
  await failed.getByText(/Twice since/).waitFor();
  assert.equal(await failed.count(), 1);
});

test('messages of one person within minutes stand together', async (t) => {
  await api.createSpace('Together', [husam, sarah]);
  const page = await openTab(t);
  await signInAs(page, husam);
  await page.getByRole('link', { name: 'Together' }).click();
  await heading(page, 'Together').waitFor();
  await send(page, 'One.');
  await send(page, 'Two.');
  await storedEntry(page, 'Two.').waitFor();
  const article = page.getByRole('article').filter({ hasText: 'One.' });
  await article.getByText('Two.').waitFor();
  assert.equal(await page.getByRole('article').count(), 1);
});

test('the keyboard jumps to a space and to a page', async (t) => {
  await api.createSpace('Far away', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Welcome');
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog', { name: 'Jump to' });
  await dialog.getByRole('combobox').fill('far');
  await dialog.getByRole('option', { name: 'Far away', selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await heading(page, 'Far away').waitFor();
  await page.locator('dialog').waitFor({ state: 'detached' });

  await page.keyboard.press('Control+k');
  await dialog.getByRole('combobox').fill('usa');
  await page.keyboard.press('Enter');
  await heading(page, 'Usage').waitFor();
  await page.locator('dialog').waitFor({ state: 'detached' });

  await page.keyboard.press('Control+k');
  await dialog.getByRole('combobox').fill('no such thing');
  await dialog.getByText('Open a space to search its messages.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('members who are no operators see no pages for operators', async (t) => {
  await api.createSpace('As a person', [husam]);
  const page = await openTab(t);
  await signInAs(page, husam);
  await heading(page, /./).waitFor();
  assert.equal(await page.getByRole('navigation', { name: 'Build' }).count(), 0);
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog', { name: 'Jump to' });
  await dialog.getByRole('combobox').fill('usage');
  await dialog.getByText('Nothing was found.').waitFor();
});

test('a hint to a model is in the bubble of its run', async (t) => {
  const page = await openFakeRoom(t);
  await deliver(page, () => window.text(1, 'It is blue.', { runId: 'r' }));
  await deliver(page, () => {
    const text = '85 % of its context is used.';
    return { type: 'system.message', runId: 'r', step: 1, watcher: 'context', text };
  });
  const article = page.getByRole('article').filter({ hasText: 'It is blue.' });
  await article.getByText('85 % of its context is used.').waitFor();
});

test('on a phone the list, a space and the drawer are pages of their own', async (t) => {
  const ana = await api.createAgent('Ana', [answerRule('Here I am.')]);
  const space = await api.createSpace('On a phone', [husam, ana]);
  await api.postMessage(space, husam, 'Hello?');
  const page = await openTab(t, { viewport: PHONE });
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  const line = page.getByRole('link', { name: 'On a phone' });
  await line.click();
  await heading(page, 'On a phone').waitFor();
  await line.waitFor({ state: 'hidden' });

  await page.getByRole('button', { name: 'Ana spoke' }).click();
  await page.getByRole('heading', { name: 'Why did Ana speak?' }).waitFor();
  await heading(page, 'On a phone').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('link', { name: 'All spaces' }).click();
  await line.waitFor();
  assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth), PHONE.width);
});
