// The page: narrow windows, the keyboard, creating a space, selecting the sender.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  openSpace,
  openTab,
  send,
  storedEntry,
  waitUntilFocused,
  waitUntilLive,
} from './console_page.js';
import { api, product } from './suite.js';

test('the page creates a space and opens it', async (t) => {
  await api.createPerson('Nora');
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.getByRole('button', { name: 'New space' }).click();
  await page.getByLabel('Name').fill('Made here');
  await page.getByRole('checkbox', { name: 'Nora' }).check();
  await page.getByRole('button', { name: 'Create space' }).click();
  await page.getByRole('heading', { name: 'Made here' }).waitFor();
  await send(page, 'Hello from here.');
  await storedEntry(page, 'Hello from here.').waitFor();
  assert.equal(await page.getByRole('article').getByText('Nora').count(), 1);
});

test('the selected sender survives a reload', async (t) => {
  const [ines, omar] = [await api.createPerson('Ines'), await api.createPerson('Omar')];
  await api.createSpace('Two people', [ines, omar]);
  const page = await openTab(t);
  await openSpace(page, 'Two people');
  await page.getByRole('combobox', { name: 'as' }).selectOption('Omar');
  await page.reload();
  await waitUntilLive(page);
  await page.getByRole('heading', { name: 'Two people' }).waitFor();
  await send(page, 'It is me, Omar.');
  await storedEntry(page, 'It is me, Omar.').waitFor();
  assert.deepEqual(await page.locator('.bubble .name').allTextContents(), ['Omar']);
});

test('the page fits into 360 pixels, even with long words', async (t) => {
  const person = await api.createPerson('Ann-Charlotte of the Very Long Name');
  const space = await api.createSpace('Narrow', [person]);
  await api.postMessage(space, person, 'w'.repeat(400));
  const page = await openTab(t, { viewport: { width: 360, height: 640 } });
  await openSpace(page, 'Narrow');
  await page.locator('.entry[data-seq="1"]').waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  const box = await page.getByRole('button', { name: 'Send' }).boundingBox();
  assert.ok(
    box.x >= 0 && box.x + box.width <= 360 && box.y + box.height <= 640,
    'the button is not visible',
  );
});

test('the keyboard reaches every control, and focus is visible', async (t) => {
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.getByRole('list', { name: 'Members' }).getByRole('listitem').first().waitFor();
  await waitUntilFocused(page.getByRole('textbox', { name: 'Message' }));
  const reached = [];
  // After the last control the focus leaves the page, and comes back to the first one.
  for (let step = 0; step < 60 && !reached.includes('text'); step += 1) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate(() => {
      const { id, textContent, tagName } = document.activeElement;
      // The focus of the message box shows on the frame around it.
      const marked = document.querySelector('.composer-box:has(> textarea:focus)');
      const { boxShadow, outlineStyle } = getComputedStyle(marked ?? document.activeElement);
      return { name: id || textContent, tagName, outline: marked ? boxShadow : outlineStyle };
    });
    if (focus.tagName === 'BODY') continue;
    assert.notEqual(focus.outline, 'none', `${focus.name} shows no focus`);
    reached.push(focus.name);
  }
  for (const name of ['new-space', 'sign-out', 'log', 'text', 'sender', 'send'])
    assert.ok(reached.includes(name), `${name} is not reached`);
});
