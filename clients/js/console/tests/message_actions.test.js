// The actions of messages in an open space, with a client that only notes its calls.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JSDOM } from 'jsdom';
import { importSource } from './bundle.js';
const { window } = new JSDOM('<main></main>', {
  pretendToBeVisual: true,
  url: 'http://x.example/',
});
globalThis.window = window;
for (const name of [
  'document',
  'Node',
  'Element',
  'HTMLElement',
  'AbortController',
  'location',
  'history',
  'ResizeObserver',
  'HTMLDialogElement',
  'localStorage',
  'sessionStorage',
])
  globalThis[name] = window[name];
globalThis.addEventListener = window.addEventListener.bind(window);
globalThis.removeEventListener = window.removeEventListener.bind(window);
globalThis.matchMedia = () => ({ matches: true, addEventListener() {}, removeEventListener() {} });
globalThis.ResizeObserver = class {
  observe() {}
  disconnect() {}
};
window.Element.prototype.scrollIntoView = () => {};
window.HTMLDialogElement.prototype.showModal = function () {
  this.open = true;
};
window.HTMLDialogElement.prototype.close = function () {
  this.open = false;
  this.dispatchEvent(new window.Event('close'));
};
const { act, h, render, ClientScope, SpaceView } = await importSource(`
  export { h, render } from 'preact';
  export { act } from 'preact/test-utils';
  export { ClientScope } from './src/api/providers.ts';
  export { SpaceView } from './src/page/space/space_view.tsx';
`);
const store = (value) => ({ subscribe: () => () => {}, getSnapshot: () => value });
const sarah = { id: 'sarah', name: 'Sarah', type: 'human', role: 'member', readSeq: 0 };
const ada = { id: 'ada', name: 'Ada', type: 'agent', role: 'member', readSeq: 0 };
const loaded = { isLoading: false, error: null };
const message = (seq, text, more) => ({
  id: 'm' + seq,
  spaceId: 's',
  seq,
  rev: 1,
  sender: sarah,
  createdAt: '2026-05-01T10:00:00Z',
  parts: [{ type: 'text', text }],
  dispatch: [],
  ...more,
});
const messages = [
  message(1, 'One @Ada', {
    mentions: [{ entityId: 'ada', start: 4, end: 8 }],
    reactions: [{ emoji: '👍', count: 1, entityIds: ['ada'] }],
    editedAt: '2026-05-01T10:00:00Z',
    dispatch: [{ agentId: 'ada', runId: 'r' }],
  }),
  message(2, 'Two', {
    replyTo: { seq: 1, messageId: 'm1', senderId: 'sarah' },
    thread: 1,
    parent: { seq: 1, messageId: 'm1', sender: sarah, text: 'One' },
  }),
  message(3, '', { parts: [], deleted: { at: 'x', by: 'owner' } }),
];
const items = messages.map((each) => ({ type: 'message', key: each.id, message: each }));
const calls = [];
const call =
  (name) =>
  async (...given) =>
    void calls.push([name, ...given]);
const info = { id: 's', name: 'S', members: [sarah, ada], pins: [1], triggerPolicy: 'all', seq: 3 };
const space = {
  id: 's',
  ...store({ space: info, ...loaded, isGone: false }),
  timeline: store({ items, hasOlder: false, ...loaded }),
  runs: store({
    active: [
      { runId: 'a1', agentId: 'ada', status: 'queued' },
      { runId: 'a2', agentId: 'ada', status: 'running' },
    ],
    outcomes: {
      m1: [
        {
          agentId: 'ada',
          runId: 'r',
          state: 'reacted',
          reason: '👍',
          source: null,
          sourceText: null,
        },
      ],
    },
    hints: {},
  }),
  members: store({ members: [sarah, ada], ...loaded }),
  presence: store({ present: [], typing: [], count: 0 }),
  forms: store({ forms: [] }),
  pins: store({ items: [{ message: messages[0], pinnedBy: null, pinnedAt: 'x' }], ...loaded }),
  thread: () => thread,
  stream: () => store({ text: '', done: true }),
  getDraft: () => '',
  setDraft() {},
  setTyping() {},
  nameOf: (id) => ({ sarah: 'Sarah', ada: 'Ada' })[id] ?? '',
  markRead: async () => {},
  loadOlder: async () => {},
  preview: async () => [],
  send: call('send'),
  edit: call('edit'),
  delete: call('delete'),
  react: call('react'),
  pin: call('pin'),
};
const thread = store({ items: items.slice(0, 2), ...loaded });
const client = {
  spaces: store({ spaces: [], ...loaded }),
  inbox: { ...store({ items: [], hasMore: false, ...loaded }), more() {} },
  space: () => space,
  me: async () => ({ kind: 'entity', entity: sarah, capabilities: [] }),
  connection: store({ state: 'live', since: 0 }),
  runs: {},
  stopChain: call('stopChain'),
  request: async () => ({}),
  mentions: { ...store({ items: [], unread: 0, hasMore: false, ...loaded }), more() {} },
};
const main = document.querySelector('main');
const tick = () => act(() => new Promise((resume) => setTimeout(resume, 50)));
const press = (node, key) =>
  act(
    () =>
      void node.dispatchEvent(
        new window.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }),
      ),
  );

const entry = (seq) => main.querySelector(`#bubbles .entry[data-seq="${seq}"]`);
const box = () => document.getElementById('text');
const textOf = (selector) => main.querySelector(selector)?.textContent ?? null;

/** Shows the space, with this thread in the drawer. */
async function show(thread) {
  const view = h(SpaceView, {
    spaceId: 's',
    seq: null,
    runId: null,
    tab: null,
    thread,
    notice: '',
  });
  act(() => render(h(ClientScope, { client }, view), main));
  // The scripts that are loaded at need.
  for (let count = 0; count < 5; count += 1) await tick();
}

/** Focuses a message, and presses a key on it. */
async function pressOn(seq, key) {
  act(() => entry(seq).focus());
  await tick();
  press(entry(seq), key);
  for (let count = 0; count < 5; count += 1) await tick();
}

test('a message shows its parent, its reactions, its edit and its deletion', async () => {
  await show(null);
  assert.equal(entry(1).querySelector('.mention').textContent, '@Ada');
  assert.equal(entry(1).querySelector('.edited').textContent, 'edited');
  assert.equal(entry(1).querySelector('.reaction').getAttribute('aria-label'), '👍 1: Ada');
  assert.equal(entry(1).querySelector('.roll-call').textContent, 'Ada reacted 👍');
  assert.match(entry(2).querySelector('.parent').textContent, /Sarah One$/);
  assert.equal(entry(3).textContent, 'Deleted by an owner');
  assert.match(textOf('.pins summary'), /Sarah One @Ada$/);
  // An agent with several runs is one agent.
  assert.equal(textOf('#working li'), 'Ada is thinking…Stop');
});

test('the keys of a message react, reply, edit, pin and delete', async () => {
  await show(null);
  calls.length = 0;
  await pressOn(1, 'p');
  await pressOn(1, '+');
  act(() => main.querySelector('.emoji-grid button').click());
  await pressOn(1, 'Delete');
  act(() => main.querySelector('dialog form').requestSubmit());
  await pressOn(1, 'r');
  assert.equal(textOf('.target p'), 'Reply to Sarah One @Ada');
  assert.equal(document.activeElement, box());
  press(box(), 'Escape');
  await tick();
  assert.equal(textOf('.target'), null);
  press(box(), 'ArrowUp');
  await tick();
  assert.equal(box().value, 'Two');
  box().value = 'Two, @Sarah';
  act(() => void box().dispatchEvent(new window.Event('input', { bubbles: true })));
  await tick();
  assert.equal(textOf('#composer-hint'), 'An edit wakes nobody.');
  press(box(), 'Enter');
  await tick();
  assert.equal(box().value, '');
  assert.deepEqual(calls, [
    ['pin', 1, false],
    ['react', 1, '👍', true, {}],
    ['delete', 1],
    ['edit', 2, 'Two, @Sarah', {}],
  ]);
});

test('what a message has set off is stopped once', async () => {
  await show(null);
  calls.length = 0;
  act(() => entry(1).focus());
  await tick();
  const buttons = [...entry(1).querySelectorAll('.more-actions button')];
  const stop = buttons.find(({ textContent }) => textContent === 'Stop chain');
  act(() => stop.click());
  await tick();
  assert.deepEqual([stop.textContent, stop.disabled], ['Chain stopped', true]);
  assert.deepEqual(calls, [['stopChain', 's', 1]]);
});

test('a thread has its messages, and its box replies to the last one', async () => {
  await show(1);
  const seqs = [...main.querySelectorAll('.thread .entry')].map(({ dataset }) => dataset.seq);
  assert.deepEqual(seqs, ['1', '2']);
  assert.equal(textOf('#thread-parent'), 'Replies to Sarah: Two');
  calls.length = 0;
  const text = document.getElementById('thread-text');
  text.value = 'Three';
  act(() => void text.dispatchEvent(new window.Event('input', { bubbles: true })));
  await tick();
  press(text, 'Enter');
  assert.deepEqual(calls, [['send', 'Three', { replyTo: 2 }]]);
});
