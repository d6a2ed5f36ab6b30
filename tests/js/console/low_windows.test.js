// Low windows: a phone on its side, and pages at 200 and 400 %.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAccessible } from './accessible.js';
import { openSpace, openTab, send, storedEntry } from './console_page.js';
import { api, husam, sarah } from './suite.js';

const WINDOWS = [
  { width: 360, height: 225 },
  { width: 844, height: 390 },
  { width: 720, height: 450 },
];
const LEAST_TALK = 80;

/** Whether all of an element is inside the window. */
async function isInside(locator) {
  const { width, height } = locator.page().viewportSize();
  const box = await locator.boundingBox();
  return box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
}

for (const viewport of WINDOWS)
  test(`${viewport.width}×${viewport.height} shows talk, Send and three spaces`, async (t) => {
    const name = `Low ${viewport.height}`;
    for (const each of ['one', 'two', 'three'])
      await api.createSpace(`${name} ${each}`, [husam, sarah]);
    await api.createSpace(name, [husam, sarah]);
    const page = await openTab(t, { viewport });
    await openSpace(page, name);
    await send(page, 'Is anybody there?');
    await storedEntry(page, 'Is anybody there?').waitFor();
    assert.ok((await page.locator('#log').boundingBox()).height >= LEAST_TALK);
    assert.ok(await isInside(page.getByRole('button', { name: 'Send' })));
    assert.ok(await isInside(page.getByRole('textbox', { name: 'Message' })));
    if (viewport.width < 704) await page.getByRole('link', { name: 'All spaces' }).click();
    const rows = page.getByRole('navigation', { name: 'Spaces', exact: true }).getByRole('link');
    for (const place of [0, 1, 2]) assert.ok(await isInside(rows.nth(place)));
    await isAccessible(page);
  });
