// The right to answer a form: of an operator in the name of a person or as itself, and of a person.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FieldView,
  answerOf,
  click,
  h,
  openPage,
  render,
  rootField,
  settle,
  tool,
  type,
  typedIn,
} from './card_page.js';

const WHO = {
  input: { title: 'Who?' },
  answerBy: ['husam', 'ada'],
  resultSchema: { type: 'string', title: 'Who' },
};

test('the selected person answers a form if answerBy allows it', async (t) => {
  const page = openPage(t);
  await page.show(tool(WHO));
  assert.equal(page.find('.terms').textContent, 'for Husam or Ada to answer');
  assert.deepEqual(page.texts('.blocked'), ['To answer, switch “as” below to Husam.']);
  const field = page.field('Who');
  assert.ok(field.matches(':disabled') && page.button('Decline…').matches(':disabled'));
  await page.change({ senderId: 'husam' });
  assert.deepEqual(page.texts('.blocked'), []);
  type(field, 'Nora');
  await page.change({ senderId: 'sarah' });
  assert.deepEqual([field.matches(':disabled'), field.value], [true, 'Nora']);
  await page.change({ senderId: 'husam' });
  await click(page.button('Send'));
  // A sent answer can't be sent again by selecting another person.
  await page.change({ senderId: 'sarah' });
  await page.change({ senderId: 'husam' });
  assert.ok(field.matches(':disabled'));
  assert.deepEqual(page.sent, [['answer', 'c1', 'Nora', { senderId: 'husam' }]]);
  await page.change({ senderId: 'sarah', people: [] });
  assert.deepEqual(page.texts('.blocked'), ['No person in this space may answer this.']);
});

test('an operator without a selected person always may answer', async (t) => {
  const page = openPage(t);
  await page.show(tool({ ...WHO, answerBy: [] }), { senderId: null });
  assert.equal(page.find('.terms').textContent, 'for the operator to answer');
  assert.deepEqual(page.texts('.blocked'), []);
  type(page.field('Who'), 'Nora');
  await click(page.button('Send'));
  assert.deepEqual(page.sent, [['answer', 'c1', 'Nora', {}]]);
});

test('a person answers as themselves if the space says so', async (t) => {
  const page = openPage(t);
  const person = { senderId: null, isOperator: false };
  page.space.openForms = [{ callId: 'c1', mayAnswer: false }];
  await page.show(tool(WHO), person);
  assert.deepEqual(page.texts('.blocked'), ['Only Husam or Ada may answer this.']);
  assert.ok(page.field('Who').matches(':disabled'));
  page.space.setForms([{ callId: 'c1', mayAnswer: true }]);
  await settle();
  assert.deepEqual(page.texts('.blocked'), []);
  type(page.field('Who'), 'Nora');
  await click(page.button('Send'));
  assert.deepEqual(page.sent, [['answer', 'c1', 'Nora', {}]]);
  page.space.setForms([{ callId: 'c2', mayAnswer: false }]);
  await page.show(tool({ ...WHO, callId: 'c2', answerBy: [] }), person);
  assert.deepEqual(page.texts('.blocked'), ['Only the operator may answer this.']);
  await page.show(tool({ ...WHO, callId: 'c2', answerBy: 'humans' }), person);
  assert.deepEqual(page.texts('.blocked'), ['Only people may answer this.']);
  page.close();
  await settle();
  assert.equal(page.space.listeners.size, 0);
});

test('random schemas do not break the page', () => {
  const words =
    'type properties items required enum const default minLength maximum pattern format title a';
  const texts = 'object array string integer boolean null date-time __proto__ ('.split(' ');
  const pick = (list) => list[Math.floor(Math.random() * list.length)];
  const random = (depth) => {
    const form = Math.random();
    if (depth === 0 || form < 0.35)
      return pick([null, true, false, -1, 1.5, '', pick(texts), pick(texts)]);
    if (form < 0.5) return Array.from({ length: 3 }, () => random(depth - 1));
    const keys = Array.from({ length: 5 }, () => pick(words.split(' ')));
    return Object.fromEntries(keys.map((key) => [key, random(depth - 1)]));
  };
  const root = document.createElement('div');
  for (let round = 0; round < 1000; round += 1) {
    const schema = { type: pick(['object', 'array', 'string']), ...random(4) };
    try {
      const field = rootField(schema);
      const form = { controls: new Map(), faults: new Map(), clear: () => {} };
      render(h(FieldView, { field, form }), root);
      const typed = typedIn(field, form.controls);
      JSON.stringify(answerOf(field, typed));
      render(null, root);
      render(h(FieldView, { field, typed, form }), root);
      render(null, root);
    } catch (error) {
      assert.fail(`${error.stack} for ${JSON.stringify(schema)}`);
    }
  }
});
