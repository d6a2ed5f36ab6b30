// The keys of a focused message, and when its bar shows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JSDOM } from 'jsdom';
import { importSource } from './bundle.js';

const { window } = new JSDOM('<main></main>', { pretendToBeVisual: true });
globalThis.window = window;
const NAMES = ['document', 'Node', 'Element', 'HTMLElement', 'AbortController'];
for (const name of [...NAMES, 'location', 'history']) globalThis[name] = window[name];
globalThis.addEventListener = window.addEventListener.bind(window);
window.Element.prototype.scrollIntoView = () => {};
const { act, h, render, useActive, useMessageKeys, useRef } = await importSource(`
  export { h, render } from 'preact';
  export { useRef } from 'preact/hooks';
  export { act } from 'preact/test-utils';
  export { useActive } from './src/page/timeline/use_active.ts';
  export { useMessageKeys } from './src/page/timeline/message_keys.ts';
`);

const main = document.querySelector('main');

/** A list of three messages, each with a button for R. Returns the numbers of the pressed ones. */
function list() {
  const pressed = [];
  function List() {
    const node = useRef(null);
    useMessageKeys(node);
    const entry = (seq) =>
      h(
        'div',
        { key: seq, class: 'entry', 'data-seq': seq, tabIndex: -1 },
        h('button', { 'data-shortcut': 'R', onClick: () => pressed.push(seq) }),
        h('input', {}),
      );
    return h('div', { ref: node }, [1, 2, 3].map(entry));
  }
  act(() => render(null, main));
  act(() => render(h(List), main));
  return pressed;
}

const entries = () => [...main.querySelectorAll('.entry')];
const stops = () => entries().map(({ tabIndex }) => tabIndex);
const focused = () => entries().indexOf(document.activeElement) + 1;

function press(key, more = {}) {
  const options = { key, bubbles: true, cancelable: true, ...more };
  const event = new window.KeyboardEvent('keydown', options);
  act(() => void document.activeElement.dispatchEvent(event));
  return event.defaultPrevented;
}

test('the list is one stop of the Tab key, and the arrows move in it', () => {
  list();
  assert.deepEqual(stops(), [-1, -1, 0]);
  entries()[2].focus();
  assert.equal(press('ArrowUp'), true);
  assert.equal(focused(), 2);
  assert.deepEqual(stops(), [-1, 0, -1]);
  press('ArrowUp');
  press('ArrowUp');
  assert.equal(focused(), 1);
  press('ArrowDown');
  assert.equal(focused(), 2);
});

test('a letter presses a button of the focused message only', () => {
  const pressed = list();
  entries()[1].focus();
  assert.equal(press('r'), true);
  assert.equal(press('e'), false);
  // The browser's own shortcuts, and text that is typed.
  assert.equal(press('r', { ctrlKey: true }), false);
  entries()[1].querySelector('input').focus();
  assert.equal(press('r'), false);
  assert.deepEqual(pressed, [2]);
});

test('a message is active under the mouse, with the focus, and after a long press', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const host = document.createElement('div');
  host.tabIndex = -1;
  const states = [];
  function Bar() {
    const isActive = useActive(host);
    if (states.at(-1) !== isActive) states.push(isActive);
    return null;
  }
  document.body.append(host);
  act(() => render(null, main));
  act(() => render(h(Bar), main));
  const point = (name, pointerType) => {
    const event = Object.assign(new window.Event(name), { pointerType });
    act(() => void host.dispatchEvent(event));
  };
  assert.deepEqual(states, [false]);
  point('pointerenter', 'mouse');
  point('pointerleave', 'mouse');
  point('pointerenter', 'touch');
  assert.deepEqual(states, [false, true, false]);
  act(() => host.focus());
  act(() => host.blur());
  assert.deepEqual(states, [false, true, false, true, false]);
  // A short touch, or one that becomes a scroll, is no long press.
  for (const end of ['pointerup', 'pointercancel']) {
    point('pointerdown', 'touch');
    point(end, 'touch');
    act(() => t.mock.timers.tick(1000));
    assert.equal(states.at(-1), false);
  }
  point('pointerdown', 'touch');
  act(() => t.mock.timers.tick(1000));
  assert.equal(document.activeElement, host);
  assert.equal(states.at(-1), true);
});
