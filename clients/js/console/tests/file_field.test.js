// Fields that ask for files: what they take, the upload, the answer, and the answered card.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle, tool } from './card_page.js';
import { importSource } from './bundle.js';

const { Card, SmartspaceProvider, SpaceProvider, answerPairs, h, render } = await importSource(`
  export { h, render } from 'preact';
  export { SmartspaceProvider, SpaceProvider } from '@smartspace/react';
  export { Card } from './src/forms/card/card.tsx';
  export { answerPairs } from './src/forms/card/answer_text.ts';
`);

const SCHEMA = {
  type: 'object',
  properties: {
    report: {
      type: 'string',
      format: 'attachment',
      title: 'Report',
      contentTypes: ['application/pdf'],
      maxBytes: 1024,
    },
  },
  required: ['report'],
};
const PDF = { name: 'q3.pdf', type: 'application/pdf', size: 500 };

// A page with one open form. `upload(id)` ends the upload, and `sent` has the answers.
async function openForm(t, callId) {
  const root = document.body.appendChild(document.createElement('main'));
  const uploads = [];
  const sent = [];
  const store = { subscribe: () => () => {}, getSnapshot: () => ({ forms: [] }) };
  const space = {
    id: 's',
    forms: store,
    nameOf: (id) => id,
    attach: (file) => new Promise((done) => uploads.push({ file, done })),
    answer: async (...given) => void sent.push(given),
  };
  const part = tool({ callId, resultSchema: SCHEMA });
  const message = { id: 'm1', seq: 1, runId: 'r', parts: [part] };
  const props = { part, message, space, people: [], senderId: null, isOperator: true, now: 0 };
  const card = h(Card, { ...props, nameOf: space.nameOf });
  const inSpace = h(SpaceProvider, { id: 's' }, card);
  render(h(SmartspaceProvider, { client: { space: () => space } }, inSpace), root);
  await settle();
  t.after(() => {
    render(null, root);
    root.remove();
  });
  const button = (text) =>
    [...root.querySelectorAll('button')].find((node) => node.textContent === text);
  return {
    root,
    uploads,
    sent,
    async pick(...files) {
      const input = root.querySelector('input[type=file]');
      Object.defineProperty(input, 'files', { value: files, configurable: true });
      input.dispatchEvent(new window.Event('change', { bubbles: true }));
      await settle();
    },
    async press(text) {
      button(text).click();
      await settle();
    },
    async upload(id) {
      uploads.at(-1).done({ id, name: 'q3.pdf', contentType: PDF.type, bytes: PDF.size });
      await settle();
    },
  };
}

test('a picked file is uploaded, and the answer has its id', async (t) => {
  const page = await openForm(t, 'c1');
  const input = page.root.querySelector('input[type=file]');
  assert.deepEqual([input.accept, input.multiple], ['application/pdf', false]);
  assert.equal(page.root.querySelector('.field .note').textContent, 'PDF, at most 1.0 KB');
  await page.press('Send');
  assert.ok(page.root.textContent.includes('This needs a file.'));
  await page.pick(PDF);
  assert.ok(page.root.querySelector('progress'));
  await page.press('Send');
  assert.ok(page.root.textContent.includes('Wait for the upload'));
  await page.upload('att_1');
  await page.press('Send');
  assert.deepEqual(page.sent, [['c1', { report: 'att_1' }, {}]]);
  // The next form starts without it.
  assert.equal(page.root.querySelector('.uploads'), null);
});

test('a file that does not fit is refused before it is uploaded', async (t) => {
  const page = await openForm(t, 'c2');
  const cases = [
    [{ ...PDF, name: 'a.txt', type: 'text/plain' }, 'a.txt does not fit: expected PDF.'],
    [{ ...PDF, size: 2000 }, 'q3.pdf is too large: expected at most 1.0 KB.'],
  ];
  for (const [file, text] of cases) {
    await page.pick(file);
    assert.ok(page.root.textContent.includes(text), page.root.textContent);
    assert.equal(page.uploads.length, 0);
  }
  await page.pick(PDF);
  await page.pick({ ...PDF, name: 'q4.pdf' });
  assert.deepEqual(
    [...page.root.querySelectorAll('.upload-name')].map(({ textContent }) => textContent),
    ['q4.pdf'],
  );
});

test('an answer names its file', () => {
  const files = new Map([['att_1', 'q3.pdf']]);
  const answer = { report: 'att_1' };
  assert.deepEqual(answerPairs(answer, SCHEMA, files), [['Report', 'q3.pdf']]);
  assert.deepEqual(answerPairs(answer, { properties: { report: { type: 'string' } } }, files), [
    ['report', 'att_1'],
  ]);
});
