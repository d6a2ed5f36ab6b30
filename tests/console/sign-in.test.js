// Signing in: the key comes by the fragment or by hand, and shows nowhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { live, openTab } from './console.js';
import { product } from './suite.js';

test('the key in the fragment signs in, and is in no address and nowhere in the page', async (t) => {
  const page = await openTab(t);
  const addresses = [];
  page.on('request', (request) => addresses.push(request.url()));
  page.on('websocket', (socket) => addresses.push(socket.url()));
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await live(page);
  assert.equal(page.url(), `${product.base}/`);
  const markup = await page.evaluate(() => document.documentElement.outerHTML);
  assert.ok(!markup.includes(product.adminKey), 'the key stands in the page');
  assert.deepEqual(addresses.slice(1).filter((address) => address.includes(product.adminKey)), []);

  await page.reload();
  await live(page);
});

test('the page comes with a strict policy', async () => {
  const response = await fetch(product.base);
  const policy = response.headers.get('content-security-policy');
  assert.match(policy, /default-src 'self'/);
  assert.doesNotMatch(policy, /unsafe/);
});

test('the demo space is there, with a person and three agents', async (t) => {
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  const members = page.getByRole('list', { name: 'Members' }).getByRole('listitem');
  await members.nth(3).waitFor();
  assert.equal(await members.filter({ hasText: 'person' }).count(), 1);
  assert.equal(await members.filter({ hasText: 'agent' }).count(), 3);
  assert.equal(await page.getByRole('combobox', { name: 'as' }).locator('option').count(), 1);
});

test('a wrong key leads back to the form with a reason, the right one in', async (t) => {
  const page = await openTab(t, { expected: [/status of 401/] });
  await page.goto(product.base);
  const key = page.getByLabel('Admin key');
  const enter = page.getByRole('button', { name: 'Sign in' });
  await key.fill('not-the-key');
  await enter.click();
  await page.getByRole('alert').filter({ hasText: 'does not accept this key' }).waitFor();
  assert.equal(await key.inputValue(), '');
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);

  await key.fill(product.adminKey);
  await enter.click();
  await live(page);
});

test('a wrong key in the fragment is refused and removed from the address too', async (t) => {
  const page = await openTab(t, { expected: [/status of 401/] });
  await page.goto(`${product.base}/#key=not-the-key`);
  await page.getByRole('alert').filter({ hasText: 'does not accept this key' }).waitFor();
  assert.equal(page.url(), `${product.base}/`);
});

test('signing out forgets the key', async (t) => {
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await live(page);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Admin key').waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});
