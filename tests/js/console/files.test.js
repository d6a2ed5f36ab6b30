// Files in the composer: how they get there, how they are uploaded, and what is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAccessible } from './accessible.js';
import {
  openPicker,
  openSpace,
  openTab,
  signInAs,
  storedEntry,
  waitUntilLive,
} from './console_page.js';
import { photoFile, pngFile, segmentsOf, textFile } from './file_bytes.js';
import { api, husam, sarah } from './suite.js';

const MIB = 1024 * 1024;
// The browser reports refused and lost requests, which these tests provoke.
const REFUSALS = { expected: [/status of \d+/, /net::ERR_/] };

/** A new space with Husam, in a tab. */
async function openRoom(t, name, options) {
  const space = await api.createSpace(name, [husam]);
  const page = await openTab(t, options);
  await openSpace(page, name);
  return { page, space };
}

const choose = (page, ...files) => page.getByLabel('Attach files').setInputFiles(files);
const items = (page) => page.getByRole('list', { name: 'Files to send' }).getByRole('listitem');
const sendButton = (page) => page.getByRole('button', { name: 'Send', exact: true });
const ready = (page, count) => page.locator('.uploads li[data-status="ready"]').nth(count - 1);

/** Sends what is in the composer, and returns the file parts of the stored message. */
async function sentFiles(page, space, seq = 1) {
  await sendButton(page).click();
  const message = await api.waitForMessage(space, (each) => each.seq === seq);
  await page.locator(`.entry[data-state="stored"][data-seq="${seq}"]`).waitFor();
  await items(page).first().waitFor({ state: 'detached' });
  return message.parts.filter(({ type }) => type === 'file');
}

/** The stored bytes of a file, from its download URL. */
async function storedBytes(space, { attachmentId }) {
  const { url } = await api.request('GET', `/v1/spaces/${space.id}/attachments/${attachmentId}`);
  const response = await fetch(url);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-disposition'), /^attachment/);
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  return Buffer.from(await response.arrayBuffer());
}

/** Whether a request stores the bytes of a file. */
const isUpload = (request) => request.method() === 'PUT' && !request.url().endsWith('/read');

/** Makes an event of the page with files. */
const withFiles = (page, type, files) =>
  page.evaluate(
    ([type, files]) => {
      const data = new DataTransfer();
      for (const [name, text] of files)
        data.items.add(new File([text], name, { type: 'text/plain' }));
      const options = { bubbles: true, cancelable: true };
      const event =
        type === 'paste'
          ? new ClipboardEvent(type, { ...options, clipboardData: data })
          : new DragEvent(type, { ...options, dataTransfer: data });
      document.getElementById('text').dispatchEvent(event);
      return event.defaultPrevented;
    },
    [type, files],
  );

test('files come by button, drop and paste, and go out without a text', async (t) => {
  const { page, space } = await openRoom(t, 'Three ways');
  await choose(page, textFile('button.txt'));
  assert.equal(await withFiles(page, 'dragover', [['drop.txt', 'dropped']]), true);
  await page.locator('.composer.dragged').waitFor();
  assert.equal(await withFiles(page, 'drop', [['drop.txt', 'dropped']]), true);
  await page.locator('.composer:not(.dragged)').waitFor();
  assert.equal(await withFiles(page, 'paste', [['paste.txt', 'pasted']]), true);
  await ready(page, 3).waitFor();
  const parts = await sentFiles(page, space);
  assert.deepEqual(
    parts.map(({ name }) => name),
    ['button.txt', 'drop.txt', 'paste.txt'],
  );
  assert.equal(String(await storedBytes(space, parts[1])), 'dropped');
  const row = page.getByRole('link', { name: /paste\.txt/ });
  assert.match(await row.textContent(), /Text, 6 bytes/);
  assert.equal(await row.getAttribute('rel'), 'noopener');
  assert.equal(await row.getAttribute('download'), 'paste.txt');
});

test('the keyboard attaches files, and removes them', async (t) => {
  const { page } = await openRoom(t, 'Keyboard files');
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'attach');
  const picker = await openPicker(page, 'Space');
  assert.ok(picker.isMultiple());
  await picker.setFiles([textFile('one.txt')]);
  await ready(page, 1).waitFor();
  await page.getByRole('button', { name: 'Remove one.txt' }).focus();
  await page.keyboard.press('Enter');
  await items(page).first().waitFor({ state: 'detached' });
  assert.ok(await box.evaluate((node) => node === document.activeElement));
});

test('a text with files keeps its draft, also over a look at another space', async (t) => {
  await api.createSpace('Somewhere else', [husam]);
  const { page, space } = await openRoom(t, 'Draft with files');
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill('See the plan.');
  await choose(page, textFile('plan.txt'));
  const spaces = page.getByRole('navigation', { name: 'Spaces' });
  await spaces.getByRole('link', { name: 'Somewhere else', exact: true }).click();
  await page.getByRole('heading', { name: 'Somewhere else', exact: true }).waitFor();
  assert.equal(await items(page).count(), 0);
  await spaces.getByRole('link', { name: 'Draft with files', exact: true }).click();
  await ready(page, 1).waitFor();
  assert.equal(await box.inputValue(), 'See the plan.');
  const parts = await sentFiles(page, space);
  await storedEntry(page, 'See the plan.').waitFor();
  assert.equal(parts.length, 1);
});

/** Limits how many bytes a second the page uploads. Returns the session that changes it again. */
async function slowly(page, uploadThroughput) {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const conditions = { latency: 0, downloadThroughput: -1 };
  const limit = (more) =>
    session.send('Network.emulateNetworkConditions', {
      ...conditions,
      ...more,
    });
  await limit({ offline: false, uploadThroughput });
  return limit;
}

/** Waits until a part of the file is uploaded, and returns how much. */
async function partlyUploaded(page) {
  const part = await page.waitForFunction(() => {
    const { value } = document.querySelector('.uploads progress') ?? {};
    return value > 0 && value < 1 && value;
  });
  return part.jsonValue();
}

test('the progress grows, and the message waits for it', async (t) => {
  const { page, space } = await openRoom(t, 'Progress');
  const limit = await slowly(page, 50_000);
  await choose(page, textFile('large.txt', 'x'.repeat(MIB)));
  const first = await partlyUploaded(page);
  assert.ok(await sendButton(page).isDisabled());
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  await page.waitForFunction(
    (first) => document.querySelector('.uploads progress')?.value > first,
    first,
  );
  assert.equal((await api.messages(space)).length, 0);
  await limit({ offline: false, uploadThroughput: -1 });
  await ready(page, 1).waitFor();
  assert.equal((await api.messages(space)).length, 0);
  const [part] = await sentFiles(page, space);
  assert.equal(part.bytes, MIB);
});

test('an upload that is cut goes on by itself, or by Retry after a longer outage', async (t) => {
  const { page, space } = await openRoom(t, 'Cut', REFUSALS);
  const limit = await slowly(page, 50_000);
  const text = 'y'.repeat(MIB);
  await choose(page, textFile('cut.txt', text));
  await partlyUploaded(page);
  await limit({ offline: true, uploadThroughput: 0 });
  await page.getByRole('button', { name: 'Retry cut.txt' }).waitFor();
  assert.match(await items(page).getByRole('alert').textContent(), /can’t be reached/);
  assert.ok(await sendButton(page).isDisabled());
  await limit({ offline: false, uploadThroughput: 50_000 });
  const again = page.waitForRequest(isUpload);
  await page.getByRole('button', { name: 'Retry cut.txt' }).click();
  await again;
  await partlyUploaded(page);
  // The network is back before the client has given up.
  const isOfFile = (request) => /\/(attachments|files)\//.test(request.url());
  const cut = page.waitForEvent('requestfailed', isOfFile);
  await limit({ offline: true, uploadThroughput: 0 });
  await cut;
  await limit({ offline: false, uploadThroughput: -1 });
  await ready(page, 1).waitFor();
  const [part] = await sentFiles(page, space);
  assert.ok((await storedBytes(space, part)).equals(Buffer.from(text)));
});

test('an upload whose answer is lost is stored once', async (t) => {
  const { page, space } = await openRoom(t, 'Lost answer', REFUSALS);
  let uploads = 0;
  await page.route('**/*', async (route) => {
    if (!isUpload(route.request())) return route.fallback();
    uploads += 1;
    if (uploads > 1) return route.continue();
    await route.fetch();
    return route.abort('connectionreset');
  });
  await choose(page, textFile('once.txt'));
  await ready(page, 1).waitFor();
  assert.equal(uploads, 2);
  assert.equal((await sentFiles(page, space)).length, 1);
});

const HTML = '<!doctype html><script>alert(1)</script>';

test('files that the server does not accept are refused with a reason', async (t) => {
  const { page, space } = await openRoom(t, 'Refused', REFUSALS);
  const refused = [
    { name: 'page.png', mimeType: 'image/png', buffer: Buffer.from(HTML) },
    {
      name: 'page.pdf',
      mimeType: 'application/pdf',
      buffer: Buffer.from(HTML),
    },
    {
      name: 'logo.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    },
    { name: 'page.html', mimeType: 'text/html', buffer: Buffer.from(HTML) },
    textFile('empty.txt', ''),
    textFile('huge.txt', 'z'.repeat(20 * MIB + 1)),
  ];
  await choose(page, textFile('fine.txt'), ...refused);
  const failed = page.locator('.uploads li[data-status="failed"]');
  await failed.nth(refused.length - 1).waitFor();
  for (const { name } of refused) {
    const reason = await failed.filter({ hasText: name }).getByRole('alert').textContent();
    assert.match(reason, /\w+ \w+/, name);
    assert.doesNotMatch(reason, /The server answered/, name);
  }
  const svg = failed.filter({ hasText: 'logo.svg' }).getByRole('alert');
  assert.match(await svg.textContent(), /^SVG files can't be sent\. Pictures \(PNG, /);
  assert.ok(await sendButton(page).isDisabled());
  await page.getByText('Remove page.png to send').waitFor();
  await isAccessible(page);
  for (const { name } of refused)
    await page.getByRole('button', { name: `Remove ${name}` }).click();
  assert.deepEqual(
    (await sentFiles(page, space)).map(({ name }) => name),
    ['fine.txt'],
  );
});

/** Whether all of a node is in sight inside the list of files. */
const isInList = (locator) =>
  locator.evaluate((node) => {
    const list = node.closest('.uploads').getBoundingClientRect();
    const { top, bottom } = node.getBoundingClientRect();
    return top >= list.top - 1 && bottom <= list.bottom + 1;
  });

test('a narrow window shows a new file, and the button that removes it', async (t) => {
  const viewport = { width: 360, height: 640 };
  const space = await api.createSpace('Narrow files', [husam]);
  const page = await openTab(t, { ...REFUSALS, viewport });
  await openSpace(page, 'Narrow files');
  const files = Array.from({ length: 5 }, (_, index) => textFile(`file ${index}.txt`));
  await choose(page, ...files);
  await ready(page, 5).waitFor();
  assert.ok(await isInList(items(page).last()));
  const name = 'a logo with quite a long name.svg';
  await choose(page, {
    name,
    mimeType: 'image/svg+xml',
    buffer: Buffer.from('<svg/>'),
  });
  const reason = items(page).getByRole('alert');
  await reason.waitFor();
  assert.ok(await isInList(items(page).last()));
  assert.ok(await isInList(reason));
  const remove = page.getByRole('button', { name: `Remove ${name}` });
  const [button, item] = [await remove.boundingBox(), await items(page).last().boundingBox()];
  assert.ok(button.y - item.y < 10, 'the button is in the first line');
  await page.getByText('Remove a logo with … name.svg to send').waitFor();
  await isAccessible(page);
  await remove.click();
  assert.equal((await sentFiles(page, space)).length, 5);
});

test('ten files are sent at once, three of them at the same time', async (t) => {
  const { page, space } = await openRoom(t, 'Ten');
  let [now, most] = [0, 0];
  await page.route('**/*', async (route) => {
    if (!isUpload(route.request())) return route.fallback();
    most = Math.max(most, (now += 1));
    const response = await route.fetch();
    now -= 1;
    return route.fulfill({ response });
  });
  const files = Array.from({ length: 12 }, (_, index) => textFile(`file ${index}.txt`));
  await choose(page, ...files);
  await page.getByText('A message has at most 10 files.').waitFor();
  await ready(page, 10).waitFor();
  const parts = await sentFiles(page, space);
  assert.deepEqual(
    parts.map(({ name }) => name),
    files.slice(0, 10).map(({ name }) => name),
  );
  assert.ok(most <= 3, `${most} were uploaded at once`);
});

test('a file of 20 MiB is sent', async (t) => {
  const { page, space } = await openRoom(t, 'Large');
  await choose(page, textFile('full.txt', 'z'.repeat(20 * MIB)));
  await ready(page, 1).waitFor();
  const [part] = await sentFiles(page, space);
  assert.equal((await storedBytes(space, part)).length, 20 * MIB);
  await page.getByText('20.0 MB').waitFor();
});

test('a photo is stored upright, smaller, and without the place where it was taken', async (t) => {
  const { page, space } = await openRoom(t, 'Photo');
  const photo = await photoFile(page, 'photo.jpg', 2400, 1200);
  assert.ok(segmentsOf(photo.buffer).includes(0xe1));
  await choose(page, photo, pngFile('small.png', 30, 20));
  await ready(page, 2).waitFor();
  const [jpeg, png] = await sentFiles(page, space);
  const bytes = await storedBytes(space, jpeg);
  assert.deepEqual([...bytes.subarray(0, 2)], [0xff, 0xd8]);
  assert.ok(!segmentsOf(bytes).includes(0xe1), 'the photo has metadata');
  assert.ok(!bytes.includes('Exif'));
  assert.deepEqual([jpeg.width, jpeg.height], [1024, 2048]);
  assert.deepEqual([png.contentType, png.width, png.height], ['image/png', 30, 20]);
});

test('a file is deleted by the person who sent it, and not by others', async (t) => {
  const space = await api.createSpace('Second thoughts', [husam, sarah]);
  const page = await openTab(t);
  await signInAs(page, husam, `#/s/${space.id}`);
  await page.getByRole('heading', { name: 'Second thoughts' }).waitFor();
  await waitUntilLive(page);
  await choose(page, textFile('plan.txt'));
  await ready(page, 1).waitFor();
  await sentFiles(page, space);
  const other = await openTab(t);
  await signInAs(other, sarah, `#/s/${space.id}`);
  await other.getByRole('link', { name: 'plan.txt' }).waitFor();
  const openMenu = async (tab) => {
    const entry = tab.locator('.entry[data-seq="1"]');
    await entry.hover();
    await entry.getByRole('button', { name: 'More', exact: true }).click();
    await entry.getByRole('button', { name: 'Thread', exact: true }).waitFor();
  };
  const remove = (tab) => tab.getByRole('button', { name: 'Delete plan.txt' });
  await openMenu(other);
  assert.equal(await remove(other).count(), 0);
  page.on('dialog', (dialog) => dialog.accept());
  await openMenu(page);
  await remove(page).click();
  for (const each of [page, other]) await each.getByText('file deleted').waitFor();
  assert.equal(await remove(page).count(), 0);
});
