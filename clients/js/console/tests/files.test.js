// Files of messages and of the composer, in a DOM without a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SmartspaceError } from '@smartspace/client';
import { JSDOM } from 'jsdom';
import { importSource } from './bundle.js';

const { window } = new JSDOM('<main></main>', { url: 'http://localhost' });
globalThis.window = window;
globalThis.document = window.document;
globalThis.addEventListener = window.addEventListener.bind(window);
globalThis.removeEventListener = window.removeEventListener.bind(window);
const shownItems = [];
window.Element.prototype.scrollIntoView = function () {
  shownItems.push(this.textContent);
};
window.HTMLDialogElement.prototype.showModal = function () {
  this.open = true;
};
window.HTMLDialogElement.prototype.close = function () {
  this.open = false;
  this.dispatchEvent(new window.Event('close'));
};

const {
  aboutFile,
  Files,
  firstWords,
  h,
  NoticeContext,
  options,
  render,
  shortName,
  shownSize,
  UploadList,
  uploadProblem,
  useFiles,
  ...hooks
} = await importSource(`
    export { h, options, render } from 'preact';
    export { SmartspaceProvider, SpaceProvider } from '@smartspace/react';
    export { UploadList } from './src/files/upload_list.tsx';
    export { aboutFile, shortName, shownSize, uploadProblem } from './src/files/file_words.ts';
    export { Files } from './src/files/files.tsx';
    export { NoticeContext } from './src/ui/notices.tsx';
    export { useFiles } from './src/page/composer/use_files.ts';
    export { firstWords } from './src/why/chain_words.ts';
  `);

// Without a screen, Preact waits for a timer before it runs effects.
options.requestAnimationFrame = queueMicrotask;

/** Waits until all that has no timer is done. */
async function settle() {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

async function until(what, condition) {
  const end = Date.now() + 20_000;
  while (!condition()) {
    assert.ok(Date.now() < end, `not in time: ${what}`);
    await delay(5);
  }
}

const file = (attachmentId, contentType, more = {}) => ({
  type: 'file',
  attachmentId,
  name: `${attachmentId}.file`,
  contentType,
  bytes: 2048,
  ...more,
});

/** A page in a space whose files have addresses, unless `fileUrl` is another function. */
function openPage(t, fileUrl = async (id) => `https://storage.example/${id}`) {
  const root = document.body.appendChild(document.createElement('main'));
  const space = { fileUrl, attach: () => new Promise(() => {}) };
  const client = { space: () => space };
  t.after(() => {
    render(null, root);
    root.remove();
  });
  return {
    root,
    space,
    async show(element) {
      const inSpace = h(hooks.SpaceProvider, { id: 's' }, element);
      render(h(hooks.SmartspaceProvider, { client }, inSpace), root);
      await settle();
    },
    all: (selector) => [...document.querySelectorAll(selector)],
  };
}

test('sizes and types have words', () => {
  const about = (contentType, bytes) => aboutFile({ contentType, bytes });
  assert.equal(about('application/pdf', 31), 'PDF, 31 bytes');
  assert.equal(about('text/plain', 1536), 'Text, 1.5 KB');
  assert.equal(about('audio/mpeg', 20 * 1024 * 1024), 'MP3, 20.0 MB');
});

test('a picture is never larger than its room, and keeps its shape', () => {
  assert.deepEqual(shownSize({ width: 100, height: 50 }), { width: 100, height: 50 });
  assert.deepEqual(shownSize({ width: 4160, height: 2080 }), { width: 416, height: 208 });
  assert.deepEqual(shownSize({ width: 640, height: 6400 }), { width: 32, height: 320 });
  assert.deepEqual(shownSize({ width: 9000, height: 1 }), { width: 416, height: 1 });
  assert.deepEqual(shownSize({}), { width: 240, height: 180 });
});

test('a wrong type is said in words, and other problems as the server says them', () => {
  const refused = (pointer) =>
    new SmartspaceError(422, { errors: [{ pointer, detail: 'expected one of image/png, …' }] });
  const accepted = 'Pictures (PNG, JPEG, WebP, GIF), PDF, text, CSV, JSON and most audio can.';
  const wrongType = refused('/contentType');
  assert.equal(uploadProblem('logo.svg', wrongType), `SVG files can't be sent. ${accepted}`);
  assert.equal(uploadProblem('logo', wrongType), `Files of this type can't be sent. ${accepted}`);
  assert.equal(uploadProblem('a.png', refused('/bytes')), 'expected one of image/png, …');
});

test('a long name is shortened, and keeps its type', () => {
  assert.equal(shortName('logo.svg'), 'logo.svg');
  assert.equal(shortName('A long name of a picture.heic'), 'A long name …ture.heic');
});

test('pictures are shown, other files are rows, and SVG is no picture', async (t) => {
  const page = openPage(t);
  const files = [
    file('plan', 'application/pdf'),
    file('photo', 'image/jpeg', { width: 832, height: 416 }),
    file('logo', 'image/svg+xml'),
  ];
  await page.show(h(Files, { files }));
  const pictures = page.all('.picture');
  assert.equal(pictures.length, 1);
  assert.ok(pictures[0].parentElement.matches('.files > .pictures:first-child'));
  assert.deepEqual(
    [pictures[0].style.width, pictures[0].style.aspectRatio],
    ['416px', '416 / 208'],
  );
  const [image] = page.all('img');
  assert.deepEqual(
    [image.getAttribute('src'), image.alt, image.getAttribute('loading')],
    ['https://storage.example/photo', 'photo.file', 'lazy'],
  );
  const links = page.all('a.file');
  assert.deepEqual(
    links.map(({ href, textContent }) => [href, textContent]),
    [
      ['https://storage.example/plan', 'plan.file PDF, 2.0 KB'],
      ['https://storage.example/logo', 'logo.file SVG+XML, 2.0 KB'],
    ],
  );
  assert.ok(links.every(({ rel, download }) => rel === 'noopener' && download !== ''));
});

test('of a deleted file the line stays', async (t) => {
  const page = openPage(t, async () => assert.fail('a deleted file has no address'));
  const gone = ['image/png', 'text/plain'].map((type, n) => ({
    ...file(`gone${n}`, type),
    deleted: true,
  }));
  await page.show(h(Files, { files: gone }));
  const rows = page.all('.file').map(({ textContent }) => textContent);
  assert.deepEqual(rows, ['gone0.file file deleted', 'gone1.file file deleted']);
  assert.equal(page.all('a, button').length, 0);
});

test('a missing file says so, and a picture that does not load is tried again', async (t) => {
  let asked = 0;
  const page = openPage(t, async (id) => {
    if (id === 'gone') throw new SmartspaceError(404, { detail: 'There is no such attachment.' });
    return `https://storage.example/${(asked += 1)}`;
  });
  const files = [file('gone', 'image/png'), file('photo', 'image/png')];
  await page.show(h(Files, { files }));
  assert.match(page.root.textContent, /gone\.file This file is no longer available/);
  const addresses = () => page.all('img').map((image) => image.getAttribute('src'));
  const fail = () => page.all('img')[0].dispatchEvent(new window.Event('error'));
  fail();
  await until('another address', () => addresses()[0] === 'https://storage.example/2');
  fail();
  await until('its words', () => /could not be loaded/.test(page.root.textContent));
  assert.deepEqual(addresses(), []);
});

test('the large view goes around the pictures of the message', async (t) => {
  const page = openPage(t);
  const files = [file('one', 'image/png'), file('plan', 'text/plain'), file('two', 'image/gif')];
  await page.show(h(Files, { files }));
  page.all('.picture')[0].click();
  await settle();
  const [dialog] = page.all('dialog');
  const shown = () => [dialog.getAttribute('aria-label'), dialog.querySelector('img')?.alt];
  assert.deepEqual([dialog.open, ...shown()], [true, 'Picture 1 of 2', 'one.file']);
  assert.equal(dialog.parentElement, document.body);
  const press = async (key) => {
    dialog.dispatchEvent(new window.KeyboardEvent('keydown', { key, bubbles: true }));
    await settle();
  };
  await press('ArrowRight');
  assert.deepEqual(shown(), ['Picture 2 of 2', 'two.file']);
  await press('ArrowRight');
  await press('ArrowLeft');
  assert.deepEqual(shown(), ['Picture 2 of 2', 'two.file']);
  assert.equal(dialog.querySelector('a').href, 'https://storage.example/two');
  dialog.close();
  await settle();
  assert.equal(page.all('dialog').length, 0);
});

test('an upload shows its progress, or its failure with a button if that may help', async (t) => {
  const page = openPage(t);
  const calls = [];
  const upload = (name, more) => ({
    id: name,
    name,
    file: new File(['12345'], name),
    progress: 0.5,
    status: 'uploading',
    error: null,
    attachment: null,
    retry: () => calls.push(`retry ${name}`),
    remove: () => calls.push(`remove ${name}`),
    ...more,
  });
  const failed = (status, detail) => ({
    status: 'failed',
    error: new SmartspaceError(status, { detail }),
  });
  const uploads = [
    upload('a.txt'),
    upload('b.txt', failed(0, 'No network.')),
    upload('c.txt', {
      status: 'failed',
      error: new SmartspaceError(422, {
        errors: [{ pointer: '/bytes', detail: 'It is no text.' }],
      }),
    }),
  ];
  await page.show(
    h(UploadList, { uploads, label: 'Files', onRemoved: () => calls.push('removed') }),
  );
  assert.deepEqual(
    page.all('.uploads li').map(({ textContent }) => textContent),
    ['a.txt5 bytes✕', 'b.txt5 bytesNo network.Retry✕', 'c.txt5 bytesIt is no text.✕'],
  );
  // All of them are new.
  assert.equal(shownItems.length, 3);
  const [bar] = page.all('progress');
  assert.deepEqual([bar.value, bar.getAttribute('aria-label')], [0.5, 'Upload of a.txt']);
  page.all('[aria-label="Retry b.txt"]')[0].click();
  page.all('[aria-label="Remove c.txt"]')[0].click();
  assert.deepEqual(calls, ['retry b.txt', 'remove c.txt', 'removed']);
});

test('a paste with a text keeps it, one of files only adds them, ten at most', async (t) => {
  const page = openPage(t);
  const notices = [];
  let files;
  const Composed = () => {
    files = useFiles(false);
    return null;
  };
  const notify = (text) => notices.push(text);
  await page.show(h(NoticeContext.Provider, { value: notify }, h(Composed)));
  const paste = async (types, count) => {
    let isTaken = false;
    const list = Array.from({ length: count }, (_, index) => new File(['x'], `${index}`));
    const clipboardData = { types, files: list };
    files.pasted({ clipboardData, preventDefault: () => (isTaken = true) });
    await settle();
    return [isTaken, files.uploads.length];
  };
  assert.deepEqual(await paste(['text/plain', 'Files'], 1), [false, 0]);
  assert.deepEqual(await paste(['text/plain'], 0), [false, 0]);
  assert.deepEqual([files.isReady, files.hint], [true, '']);
  assert.deepEqual(await paste(['Files'], 2), [true, 2]);
  assert.deepEqual([files.isReady, files.hint], [false, 'Send waits for the files']);
  assert.deepEqual(await paste(['Files'], 12), [true, 10]);
  page.space.attach = async () => {
    throw new SmartspaceError(422, { detail: 'The file is empty.' });
  };
  for (const upload of files.uploads) upload.remove();
  await settle();
  await paste(['Files'], 1);
  assert.equal(files.hint, 'Remove 0 to send');
  assert.deepEqual(notices, ['', 'A message has at most 10 files.', '']);
});

test('the first words of a message name its files', () => {
  const parts = [{ type: 'text', text: 'See' }, file('plan', 'application/pdf')];
  assert.equal(firstWords({ parts }), 'See file: plan.file');
});
