// Files of messages: pictures in the timeline and in the large view, and files that are gone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAccessible } from './accessible.js';
import { openSpace, openTab, signInAs, waitUntilSubscribed } from './console_page.js';
import { pngFile, textFile } from './file_bytes.js';
import { api, husam, sarah } from './suite.js';

const REFUSALS = { expected: [/status of \d+/, /net::ERR_/] };

/** A space with one message that has these files, in a tab. */
async function openWithFiles(t, name, files, options) {
  const space = await api.createSpace(name, [husam]);
  const page = await openTab(t, options);
  await openSpace(page, name);
  await page.getByLabel('Attach files').setInputFiles(files);
  await page
    .locator('.uploads li[data-status="ready"]')
    .nth(files.length - 1)
    .waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.locator('.entry[data-state="stored"] .files').waitFor();
  return { page, space };
}

const isLoaded = (picture) => picture.evaluate((node) => node.complete && node.naturalWidth > 0);

/** Waits until all pictures on the page are loaded. */
const allLoaded = (page, count) =>
  page.waitForFunction((count) => {
    const pictures = [...document.querySelectorAll('.picture img')];
    return pictures.length === count && pictures.every(({ naturalWidth }) => naturalWidth > 0);
  }, count);

test('a picture has its room before it is loaded', async (t) => {
  const files = [pngFile('wide.png', 1600, 400), pngFile('high.png', 300, 900)];
  const { page } = await openWithFiles(t, 'Reserved', files);
  await allLoaded(page, 2);
  const boxes = () =>
    page.locator('.picture').evaluateAll((nodes) =>
      nodes.map((node) => {
        const { width, height } = node.getBoundingClientRect();
        return [Math.round(width), Math.round(height)];
      }),
    );
  const loaded = await boxes();
  assert.ok(loaded.every(([width, height]) => width <= 420 && height <= 324));
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/attachments/*', (route) => held.then(() => route.fallback()));
  await page.reload();
  await page.locator('.picture').nth(1).waitFor();
  assert.equal(await page.locator('.picture img').count(), 0);
  assert.deepEqual(await boxes(), loaded);
  release();
  await allLoaded(page, 2);
  assert.deepEqual(await boxes(), loaded);
  const picture = page.getByAltText('wide.png');
  assert.equal(await picture.getAttribute('loading'), 'lazy');
});

test('the large view shows the pictures of the message, with the keyboard alone', async (t) => {
  const files = [
    pngFile('first.png', 1200, 800),
    textFile('notes.txt'),
    pngFile('second.png', 500, 1500, [160, 60, 60]),
  ];
  const { page } = await openWithFiles(t, 'Large view', files);
  await allLoaded(page, 2);
  await isAccessible(page);
  const opener = page.getByRole('button', { name: 'Open first.png' });
  await opener.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Picture 1 of 2' });
  await dialog.getByAltText('first.png').waitFor();
  await isAccessible(page);
  await page.keyboard.press('ArrowRight');
  const second = page.getByRole('dialog', { name: 'Picture 2 of 2' });
  await second.getByAltText('second.png').waitFor();
  const shown = await second.boundingBox();
  assert.ok(shown.height <= page.viewportSize().height);
  await page.keyboard.press('ArrowRight');
  await dialog.waitFor();
  await page.keyboard.press('ArrowLeft');
  await second.waitFor();

  const download = second.getByRole('link', { name: 'Download' });
  assert.equal(await download.getAttribute('download'), 'second.png');
  assert.equal(await download.getAttribute('rel'), 'noopener');
  // The focus stays in the dialog.
  for (let step = 0; step < 8; step += 1) {
    await page.keyboard.press('Tab');
    const isOutside = await page.evaluate(
      () => document.activeElement !== document.body && !document.activeElement.closest('dialog'),
    );
    assert.equal(isOutside, false);
  }
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.ok(await opener.evaluate((node) => node === document.activeElement));
});

test('in a narrow window a high picture leaves room for all buttons, in one row', async (t) => {
  const files = [
    pngFile('a high picture with a long name for one line.png', 500, 2500),
    textFile('notes.txt'),
    pngFile('wide.png', 900, 300),
  ];
  const viewport = { width: 360, height: 640 };
  const { page } = await openWithFiles(t, 'Narrow picture', files, {
    viewport,
  });
  await allLoaded(page, 2);
  const row = page.getByRole('link', { name: /notes\.txt/ });
  const wide = page.getByRole('button', { name: 'Open wide.png' });
  const [above, below] = [await wide.boundingBox(), await row.boundingBox()];
  assert.ok(above.y + above.height <= below.y, 'other files are below the pictures');
  await page.getByRole('button', { name: /^Open a high/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Picture 1 of 2' });
  await dialog.getByRole('link', { name: 'Download' }).waitFor();
  await dialog.getByRole('img').waitFor();
  const controls = await dialog.locator('.dialog-row > *').all();
  const boxes = await Promise.all(controls.map((each) => each.boundingBox()));
  assert.equal(boxes.length, 4);
  assert.ok(boxes.every(({ y }) => y === boxes[0].y));
  const { x, y, width, height } = boxes.at(-1);
  assert.ok(x + width <= viewport.width && y + height <= viewport.height);
  assert.ok(await dialog.evaluate((node) => node.scrollHeight <= node.clientHeight));
  await isAccessible(page);
});

test('a picture that one person sends shows to another', async (t) => {
  const space = await api.createSpace('Two people', [husam, sarah]);
  const [his, hers] = [await openTab(t), await openTab(t)];
  await signInAs(hers, sarah, `#/s/${space.id}`);
  await waitUntilSubscribed(hers, space.id);
  await signInAs(his, husam, `#/s/${space.id}`);
  await his.getByLabel('Attach files').setInputFiles(pngFile('shared.png', 60, 40));
  await his.locator('.uploads li[data-status="ready"]').waitFor();
  await his.getByRole('textbox', { name: 'Message' }).fill('Look at this.');
  await his.getByRole('textbox', { name: 'Message' }).press('Enter');
  await allLoaded(hers, 1);
  await allLoaded(his, 1);
  assert.equal(await hers.getByText('Look at this.').count(), 1);
  const [{ sender, parts }] = await api.messages(space);
  assert.deepEqual([sender.name, parts.map(({ type }) => type)], ['Husam', ['text', 'file']]);
});

test('an address that has ended is asked for again', async (t) => {
  const { page } = await openWithFiles(t, 'Ended', [pngFile('one.png', 40, 30)], REFUSALS);
  await allLoaded(page, 1);
  let isFirst = true;
  await page.route('**/*', (route) => {
    if (route.request().resourceType() !== 'image' || !isFirst) return route.fallback();
    if (route.request().url().endsWith('.svg')) return route.fallback();
    isFirst = false;
    return route.fulfill({ status: 403, body: '' });
  });
  await page.reload();
  await allLoaded(page, 1);
  assert.equal(isFirst, false);
  assert.ok(await isLoaded(page.getByAltText('one.png')));
});

test('a file that is gone says so', async (t) => {
  const files = [pngFile('lost.png', 40, 30), textFile('lost.txt')];
  const { page } = await openWithFiles(t, 'Gone', files, REFUSALS);
  await allLoaded(page, 1);
  const detail = 'There is no such attachment.';
  await page.route('**/attachments/*', (route) =>
    route.fulfill({
      status: 404,
      json: { status: 404, title: 'Not Found', detail },
    }),
  );
  await page.reload();
  await page.getByText('This file is no longer available').nth(1).waitFor();
  assert.equal(await page.locator('.picture').count(), 0);
  await page.getByText('lost.png', { exact: true }).waitFor();
});
