// Signing in with the key from the fragment or from the form. The key appears nowhere else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenOf } from '../api_client.js';
import { openTab, signInAs, waitUntilLive, waitUntilTaken } from './console_page.js';
import { husam, product, sarah } from './suite.js';

test('the key in the fragment signs in and appears in no address or page', async (t) => {
  const page = await openTab(t);
  const addresses = [];
  page.on('request', (request) => addresses.push(request.url()));
  page.on('websocket', (socket) => addresses.push(socket.url()));
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  assert.match(page.url(), /\/(#\/s\/[^/]+)?$/);
  const markup = await page.evaluate(() => document.documentElement.outerHTML);
  assert.ok(!markup.includes(product.adminKey), 'the page contains the key');
  assert.deepEqual(
    addresses.slice(1).filter((address) => address.includes(product.adminKey)),
    [],
  );

  await page.reload();
  await waitUntilLive(page);
});

test('the page has a strict content security policy', async () => {
  const response = await fetch(product.base);
  const policy = response.headers.get('content-security-policy');
  assert.match(policy, /default-src 'self'/);
  assert.doesNotMatch(policy, /unsafe/);
});

test('the demo space has a person and three agents', async (t) => {
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  const members = page.getByRole('list', { name: 'Members' }).getByRole('listitem');
  await members.nth(3).waitFor();
  assert.equal(await members.filter({ hasText: 'person' }).count(), 1);
  assert.equal(await members.filter({ hasText: 'agent' }).count(), 3);
  assert.equal(await page.getByRole('combobox', { name: 'as' }).locator('option').count(), 2);
});

test('a wrong key shows the form with the reason, and the right key signs in', async (t) => {
  const page = await openTab(t, { expected: [/status of 401/] });
  await page.goto(product.base);
  const key = page.getByLabel('Key or token');
  const enter = page.getByRole('button', { name: 'Sign in' });
  await key.fill('not-the-key');
  await enter.click();
  await page.getByRole('alert').filter({ hasText: 'does not accept this key' }).waitFor();
  assert.equal(await key.inputValue(), '');
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);

  await key.fill(product.adminKey);
  await enter.click();
  await waitUntilLive(page);
});

test('a wrong key in the fragment is refused and removed from the address', async (t) => {
  const page = await openTab(t, { expected: [/status of 401/] });
  await page.goto(`${product.base}/#key=not-the-key`);
  await page.getByRole('alert').filter({ hasText: 'does not accept this key' }).waitFor();
  assert.equal(page.url(), `${product.base}/`);
});

test('a refused link gives back the key that it replaced', async (t) => {
  const page = await openTab(t, { expected: [/status of 401/] });
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  page.once('dialog', (dialog) => dialog.accept());
  await page.goto(`${product.base}/#token=not-a-token`);
  await page.getByRole('alert').filter({ hasText: 'does not accept this key' }).waitFor();
  await page.getByRole('button', { name: 'Stay signed in as before' }).click();
  await waitUntilLive(page);
});

test('a link asks before it signs a tab in as somebody else', async (t) => {
  const page = await openTab(t);
  const questions = [];
  const answer = (verb) =>
    new Promise((resolve) =>
      page.once('dialog', async (dialog) => {
        questions.push(dialog.message());
        await dialog[verb]();
        resolve();
      }),
    );
  const caller = page.locator('#caller');
  await signInAs(page, husam);
  assert.equal(await caller.textContent(), 'Signed in as Husam');
  // The own link asks nothing.
  const own = await page.evaluate(() => sessionStorage.getItem('smartspace.key'));
  await page.goto(`${product.base}/#token=${own}`);
  await waitUntilTaken(page);

  // The question comes in an open page, and when the page loads.
  const others = tokenOf(sarah, product.jwtSecret);
  for (const before of [`${product.base}/`, 'about:blank']) {
    await page.goto(before);
    const answered = answer('dismiss');
    await page.goto(`${product.base}/#token=${others}`);
    await answered;
    await waitUntilTaken(page);
    await waitUntilLive(page);
    assert.equal(await caller.textContent(), 'Signed in as Husam');
    assert.ok(!page.url().includes(others));
  }
  assert.equal(questions.length, 2);
  assert.match(questions[0], /^This link signs this tab in with another key or token\./);
  assert.equal(await page.evaluate(() => sessionStorage.getItem('smartspace.key')), own);

  const answered = answer('accept');
  await page.goto(`${product.base}/#token=${others}`);
  await answered;
  await caller.filter({ hasText: 'Signed in as Sarah' }).waitFor();
  assert.equal(questions.length, 3);
});

test('signing out removes the key', async (t) => {
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Key or token').waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});
