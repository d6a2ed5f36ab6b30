// What a reader is notified of.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JSDOM } from 'jsdom';
import { importSource } from './bundle.js';

const { window } = new JSDOM('<main></main>');
globalThis.window = window;
for (const name of ['document', 'location', 'history']) globalThis[name] = window[name];
globalThis.addEventListener = window.addEventListener.bind(window);
const { noticesOf } = await importSource(
  `export { noticesOf } from './src/home/notifications.tsx';`,
);

test('a form and a mention each say who, where and what, and lead there', () => {
  const form = {
    callId: 'c1',
    kind: 'form',
    tool: 'ask',
    input: { title: 'Deploy v2.1?' },
    agent: { id: 'a1', name: 'DeployBot' },
    spaceId: 's1',
    spaceName: 'Deployments',
    seq: 4,
  };
  const message = { id: 'm1', seq: 7, sender: { id: 'p1', name: 'Sara' } };
  const mention = { spaceId: 's2', spaceName: 'Release', why: 'mention', message };
  assert.deepEqual(noticesOf({ items: [form] }, { items: [mention] }), [
    {
      tag: 'c1',
      title: 'Deploy v2.1?',
      body: 'DeployBot asks in Deployments',
      href: '#/s/s1/m/4',
    },
    { tag: 'm1', title: 'Sara mentions you', body: 'in Release', href: '#/s/s2/m/7' },
  ]);
});
