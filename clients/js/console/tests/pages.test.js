// Lists that come in pages: the next page is asked for while the list is loaded again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JSDOM } from 'jsdom';
import { importSource } from './bundle.js';

const { window } = new JSDOM('<main></main>', { pretendToBeVisual: true });
globalThis.window = window;
for (const name of ['document', 'location', 'history']) globalThis[name] = window[name];
const { act, ClientScope, h, render, usePages } = await importSource(`
  export { h, render } from 'preact';
  export { act } from 'preact/test-utils';
  export { ClientScope } from './src/api/providers.ts';
  export { usePages } from './src/studio/data/pages.ts';
`);

const main = document.querySelector('main');

/** A list whose server answers on `answer`: each page has one item. */
async function open(count) {
  const waiting = [];
  const asked = [];
  const request = (_, path) => {
    const from = Number(new URLSearchParams(path.split('?')[1]).get('cursor') ?? 0);
    asked.push(from);
    const page = () => ({ items: [from], nextCursor: from + 1 < count ? `${from + 1}` : null });
    return new Promise((resolve, reject) =>
      waiting.push({ succeed: () => resolve(page()), fail: () => reject(new Error('lost')) }),
    );
  };
  const list = { asked };
  function List() {
    Object.assign(list, usePages('/list'));
    return null;
  }
  act(() => render(null, main));
  await act(() => render(h(ClientScope, { client: { request } }, h(List)), main));
  list.answer = (how = 'succeed') =>
    act(async () => {
      waiting.shift()[how]();
      // After all promises that follow.
      await new Promise(setImmediate);
    });
  list.press = (name) => act(() => list[name]());
  return list;
}

test('the next page is added', async () => {
  const list = await open(3);
  await list.answer();
  assert.equal(list.hasMore, true);
  await list.press('more');
  await list.answer();
  assert.deepEqual(list.items, [0, 1]);
  assert.deepEqual(list.asked, [0, 1]);
  await list.press('reload');
  await list.answer();
  await list.answer();
  assert.deepEqual(
    [list.items, list.asked],
    [
      [0, 1],
      [0, 1, 0, 1],
    ],
  );
});

test('a page that is asked for during a load comes after it, once', async () => {
  const list = await open(4);
  await list.answer();
  await list.press('reload');
  await list.press('more');
  await list.press('more');
  // The load that begins next has both wishes.
  await list.press('reload');
  await list.answer();
  await list.answer();
  await list.answer();
  assert.deepEqual([list.items, list.isLoading], [[0, 1], false]);
  assert.deepEqual(list.asked, [0, 0, 0, 1]);
});

test('a page that failed is asked for again', async () => {
  const list = await open(2);
  await list.answer();
  await list.press('more');
  await list.answer('fail');
  assert.match(list.error.message, /lost/);
  await list.press('more');
  await list.answer();
  assert.deepEqual([list.items, list.hasMore, list.error], [[0, 1], false, null]);
});
