// The example react-chat, installed from the packed packages and built, in two people's browsers.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { ApiClient, answerRule, callRule, formTool, tokenOf } from '../api_client.js';
import { startProduct } from '../product.js';
import { command, installedExample } from './packages.js';
import { serve } from '../web_server.js';

const LIMIT_MS = 30_000;
// An answer takes long enough to be seen while it is written.
const WORD_MS = 500;
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'];
const ANSWER = 'Plant the roses first, then water them, and wait for the rain.';
const APPROVAL = { message: 'Order 40 roses?', options: ['Approve', 'Reject'] };

let product;
let api;
let browser;
let origin;
let husam;
let sarah;
let guide;

before(async (t) => {
  const folder = await installedExample(t, 'react-chat');
  origin = await serve(t, `${folder}/dist`);
  product = await startProduct('--cors-origin', origin);
  process.env.VITE_SMARTSPACE_URL = product.base;
  await command(folder, 'npm', 'run', 'check');
  await command(folder, 'npm', 'run', 'build');
  api = new ApiClient(product);
  husam = await api.createPerson('Husam');
  sarah = await api.createPerson('Sarah');
  const order = callRule('approve', APPROVAL, 'You chose: {{result.choice}}');
  const rules = [{ ...order, when: { contains: 'order' } }, answerRule(ANSWER)];
  const tools = [formTool('approve', { ui: 'buttons' })];
  guide = await api.createAgent('Guide', rules, WORD_MS, tools);
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  browser = await chromium.launch({ executablePath, args: FLAGS });
});

after(async () => {
  await browser?.close();
  await product?.stop();
});

/** Opens a space in two browsers, one for each person. Their errors fail the test. */
async function openRoom(t, name, options = {}) {
  const { expected = /^$/, members = [husam, sarah, guide], prepare } = options;
  const space = await api.createSpace(name, members);
  const open = async (person) => {
    const context = await browser.newContext({
      viewport: { width: 1200, height: 800 },
    });
    context.setDefaultTimeout(LIMIT_MS);
    const page = await context.newPage();
    const errors = [];
    const note = (text) => expected.test(text) || errors.push(text);
    page.on('console', (message) => message.type() === 'error' && note(message.text()));
    page.on('pageerror', (error) => note(String(error)));
    t.after(async () => {
      await context.close();
      assert.deepEqual(errors, [], 'the browser reported errors');
    });
    await prepare?.(page);
    await page.goto(`${origin}/#token=${tokenOf(person, product.jwtSecret)}&space=${space.id}`);
    await page.getByRole('heading', { name, exact: true }).waitFor();
    await page.locator('nav .connection[data-state="live"]').waitFor();
    return page;
  };
  return { space, pages: [await open(husam), await open(sarah)] };
}

const stored = (page, text) =>
  page.locator('.bubble[data-state="stored"]').filter({ hasText: text });
const status = (page, text) => page.getByRole('status').filter({ hasText: text });

async function send(page, text) {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

test('two people read a message, and its answer while it is written', async (t) => {
  const { pages } = await openRoom(t, 'Garden');
  const [his] = pages;
  await send(his, 'Where do we begin?');
  await Promise.all(pages.map((page) => stored(page, 'Where do we begin?').waitFor()));
  await Promise.all(
    pages.map(async (page) => {
      const live = page.locator('.bubble[data-state="live"] p');
      await live.waitFor();
      const start = await live.textContent();
      assert.ok(ANSWER.startsWith(start) && start !== ANSWER, start);
      await stored(page, ANSWER).waitFor();
      assert.equal(await live.count(), 0);
      assert.equal(await page.getByText(ANSWER).count(), 1);
      await page.getByRole('list', { name: 'Agents' }).getByText('Guide spoke').waitFor();
      assert.equal(await page.locator('.line:not(.unread)').count(), 1, 'one day line');
    }),
  );
  assert.equal(new URL(his.url()).hash, '', 'the token is in the address');
});

test('each sees that the other is here, also if the connection comes late', async (t) => {
  const prepare = (page) =>
    page.route('**/v1/socketTickets', async (route) => {
      await page.getByRole('heading', { name: 'Together', exact: true }).waitFor();
      await route.continue();
    });
  const { pages } = await openRoom(t, 'Together', {
    members: [husam, sarah],
    prepare,
  });
  const here = (page) => page.getByRole('list', { name: 'Members' }).locator('[data-here="true"]');
  await Promise.all(pages.map((page) => here(page).nth(1).waitFor()));
});

test('one person approves, and both see it', async (t) => {
  const { pages } = await openRoom(t, 'Orders');
  const [his, hers] = pages;
  await send(his, 'Please order roses.');
  await status(his, 'Guide waits for an answer').waitFor();
  await his.getByRole('group', { name: APPROVAL.message }).getByText('Decline').waitFor();
  await hers.getByRole('button', { name: 'Approve' }).click();
  for (const page of pages) {
    await page.locator('output', { hasText: 'Approve (Sarah)' }).waitFor();
    await stored(page, 'You chose: Approve').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0);
  }
});

test('one sees that the other types', async (t) => {
  const { pages } = await openRoom(t, 'Typing', { members: [husam, sarah] });
  const [his, hers] = pages;
  await his.getByRole('textbox', { name: 'Message' }).pressSequentially('Hel');
  await status(hers, 'Husam types').waitFor();
  assert.equal(await status(his, 'types').count(), 0);
  await send(his, 'Hello');
  await status(hers, 'Husam types').waitFor({ state: 'detached' });
});

test('a message that was sent offline survives a reload and arrives once', async (t) => {
  const expected = /ERR_INTERNET_DISCONNECTED/;
  const { space, pages } = await openRoom(t, 'Tunnel', {
    expected,
    members: [husam, sarah],
  });
  const [his, hers] = pages;
  await his.context().setOffline(true);
  await his.locator('nav .connection[data-state="offline"]').waitFor();
  await send(his, 'Sent in the tunnel');
  await his.locator('.bubble[data-state="queued"]').filter({ hasText: 'in the tunnel' }).waitFor();
  // The page can't be loaded now: what it held in memory is gone.
  await assert.rejects(his.reload());
  await his.context().setOffline(false);
  await his.goto(origin);
  await stored(hers, 'Sent in the tunnel').waitFor();
  await stored(his, 'Sent in the tunnel').waitFor();
  await send(his, 'Back again');
  for (const page of pages) {
    await stored(page, 'Back again').waitFor();
    assert.deepEqual(await page.locator('.bubble p').allTextContents(), [
      'Sent in the tunnel',
      'Back again',
    ]);
  }
  const texts = (await api.messages(space)).map(({ parts }) => parts[0].text);
  assert.deepEqual(texts, ['Sent in the tunnel', 'Back again']);
});
