// The pace at which texts are shown that agents are writing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

let pressKey;
globalThis.addEventListener = (name, listener) => (pressKey = listener);
const { showSoon } = await importSource(
  `export { showSoon } from './src/page/timeline/live_text.ts';`,
);

/** How often each of two texts is shown within a second, if each grows every ten milliseconds. */
function showsInSecond(timers, isTyping) {
  const shows = [0, 0];
  const listeners = shows.map((_, index) => () => (shows[index] += 1));
  for (let ms = 0; ms < 1000; ms += 10) {
    if (isTyping) pressKey();
    listeners.forEach(showSoon);
    timers.tick(10);
  }
  return shows;
}

test('texts are shown together, and less often while somebody types', (t) => {
  const { timers } = t.mock;
  timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
  assert.deepEqual(showsInSecond(timers, false), [20, 20]);
  assert.deepEqual(showsInSecond(timers, true), [4, 4]);
  timers.tick(1000);
});

test('the last piece of a text is shown', (t) => {
  const { timers } = t.mock;
  timers.enable({ apis: ['Date', 'setTimeout'], now: 2_000_000 });
  let text = '';
  let shown = '';
  for (const piece of ['One ', 'two ', 'three.']) {
    text += piece;
    showSoon(() => (shown = text));
  }
  assert.equal(shown, '');
  timers.tick(1000);
  assert.equal(shown, 'One two three.');
});
