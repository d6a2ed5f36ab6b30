// A person with a token: the page acts in their name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab, send, signInAs, storedEntry, waitUntilSubscribed } from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

test('a person signs in with a token and writes as themselves', async (t) => {
  const space = await api.createSpace('Persons', [husam, sarah]);
  const page = await openTab(t);
  await signInAs(page, sarah, `#/s/${space.id}`);
  await page.getByRole('heading', { name: 'Persons' }).waitFor();
  await page.getByText('Signed in as Sarah').waitFor();
  assert.ok(!page.url().includes('token='));
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'as' }).count(), 0);
  await send(page, 'It is me.');
  await storedEntry(page, 'It is me.').waitFor();
  const [message] = await api.messages(space);
  assert.equal(message.sender.id, sarah.id);
});

test('a person sees who types', async (t) => {
  const space = await api.createSpace('Typing', [husam, sarah]);
  const [page, other] = [await openTab(t), await openTab(t)];
  await signInAs(page, sarah, `#/s/${space.id}`);
  await signInAs(other, husam, `#/s/${space.id}`);
  for (const each of [page, other]) await waitUntilSubscribed(each, space.id);
  // It shows for some seconds.
  await Promise.all([
    page.getByText('Husam is typing…').waitFor(),
    other.getByRole('textbox', { name: 'Message' }).pressSequentially('Hello there'),
  ]);
  assert.equal(await other.locator('#typing').textContent(), '');
  await other.getByRole('textbox', { name: 'Message' }).press('Enter');
  await page.getByText('Husam is typing…').waitFor({ state: 'detached' });
});

test('a refused token signs out with the reason', async (t) => {
  const page = await openTab(t, { expected: [/status of 401/] });
  await signInAs(page, sarah);
  await page.route('**/v1/**', (route) => route.fulfill({ status: 401, json: { title: 'No' } }));
  await page.evaluate(() => window.sockets.forEach((socket) => socket.close()));
  await page.getByRole('alert').filter({ hasText: 'does not accept' }).waitFor();
  await page.getByLabel('Key or token').waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await page.goto(product.base);
  await page.getByLabel('Key or token').waitFor();
});
