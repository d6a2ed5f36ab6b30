// Messages on their way: they show at once, wait for the network, and drafts survive.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asEntries, openSpace, openTab, send, storedEntries, storedEntry } from './console_page.js';
import { api, husam, sarah } from './suite.js';

const LOST = {
  expected: [/net::ERR_INTERNET_DISCONNECTED/, /net::ERR_FAILED/],
};

test('messages wait for the network and go out by themselves, once and in order', async (t) => {
  const space = await api.createSpace('Outage', [husam]);
  const page = await openTab(t, LOST);
  await openSpace(page, 'Outage');
  await page.context().setOffline(true);
  const box = page.getByRole('textbox', { name: 'Message' });
  for (const text of ['first', 'second']) {
    await send(page, text);
    assert.equal(await box.inputValue(), '');
    assert.ok(await box.isEnabled());
  }
  const pending = page.locator('.entry[data-state="pending"]');
  await pending.nth(1).waitFor();
  assert.deepEqual(await pending.locator('.text').allTextContents(), ['first', 'second']);
  await page.locator('#status:not([data-status="live"])').waitFor();
  assert.equal((await api.messages(space)).length, 0);

  await page.context().setOffline(false);
  await storedEntry(page, 'second').waitFor();
  await pending.first().waitFor({ state: 'detached' });
  const stored = await api.messages(space);
  assert.equal(stored.length, 2);
  assert.deepEqual(await storedEntries(page), asEntries(stored));
});

test('an unsent message survives a reload', async (t) => {
  const space = await api.createSpace('Outage and reload', [husam]);
  const page = await openTab(t, LOST);
  await openSpace(page, 'Outage and reload');
  await page.route('**/messages', (route) =>
    route.request().method() === 'POST' ? route.abort('failed') : route.fallback(),
  );
  await send(page, 'not lost');
  await page.locator('.entry[data-state="pending"]').waitFor();
  await page.unroute('**/messages');
  await page.reload();
  await storedEntry(page, 'not lost').waitFor();
  assert.equal((await api.messages(space)).length, 1);
});

test('a draft survives a switch and a reload', async (t) => {
  await api.createSpace('Draft', [husam]);
  await api.createSpace('Elsewhere', [husam, sarah]);
  const page = await openTab(t);
  await openSpace(page, 'Draft');
  const box = page.getByRole('textbox', { name: 'Message' });
  const open = async (name) => {
    const spaces = page.getByRole('navigation', { name: 'Spaces' });
    await spaces.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, exact: true }).waitFor();
  };
  await box.fill('half a thou');
  await open('Elsewhere');
  assert.equal(await box.inputValue(), '');
  await open('Draft');
  assert.equal(await box.inputValue(), 'half a thou');
  await page.reload();
  await box.waitFor();
  assert.equal(await box.inputValue(), 'half a thou');
});
