// Forms in a DOM without a browser: fields, errors and what is sent. The suites in tests/js/console
// show the same forms in a browser, with layout, accessible names and real keys.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ORDER, click, openPage, refuse, settle, tool, type } from './card_page.js';
import { ORDER_ANSWER } from './order_schema.js';

const SARAH = { senderId: 'sarah' };
const problems = (page) => page.texts('.problem').filter((text) => text !== '');

test('a form has fields of every kind and sends their values', async (t) => {
  const page = openPage(t);
  const input = { title: 'An order', shop: 'Harbour', lines: [{ n: 1 }] };
  await page.show(tool({ input, resultSchema: ORDER }));
  assert.equal(page.find('.question').textContent, 'An order');
  assert.equal(page.find('.ask').getAttribute('aria-labelledby'), page.find('.question').id);
  assert.deepEqual(page.texts('.pairs div'), ['shop:Harbour', 'lines:[{"n":1}]']);
  assert.equal(page.find('.fields > p.field').textContent, 'Version: v1');
  type(page.field('Name'), 'Nora');
  await click(page.field('Large'));
  type(page.field('Amount'), '3');
  type(page.field('Day'), '2026-05-17');
  await click(page.field('A gift'));
  type(page.field('Country'), '1');
  await click(page.field('Card'));
  type(page.field('Tags'), 'one\ntwo');
  type(page.field('Street'), 'Quay 1');
  type(page.field('The rest'), '[{"a": 1}]');
  await click(page.field('I agree'));
  const [hintId, faultId] = page.field('Name').getAttribute('aria-describedby').split(' ');
  assert.equal(document.getElementById(hintId).textContent, 'As on the invoice.');
  assert.equal(document.getElementById(faultId).className, 'problem');
  await click(page.button('Send'));
  assert.equal(page.find('.ask > .note').textContent, 'Sent.');
  assert.ok(page.button('Send').matches(':disabled'));
  const output = { version: 'v1', ...ORDER_ANSWER };
  assert.deepEqual(page.sent, [['answer', 'c1', output, SARAH]]);
});

test('the attributes of controls', async (t) => {
  const page = openPage(t);
  const properties = {
    code: { type: 'string', pattern: '^[0-9]+$' },
    few: { type: 'number', minimum: 0 },
    free: {},
    size: { enum: ['S', 'M'] },
  };
  await page.show(
    tool({ resultSchema: { type: 'object', properties, required: ['code', 'size'] } }),
  );
  const attributes = (node, names) => names.map((name) => node.getAttribute(name));
  const answering = page.find('.answering');
  const code = page.field('code');
  assert.deepEqual(attributes(code, ['title', 'type', 'required']), ['^[0-9]+$', 'text', '']);
  assert.deepEqual(attributes(page.field('few'), ['inputmode', 'required']), ['decimal', null]);
  const free = page.field('free');
  assert.deepEqual([free.tagName, free.className, free.rows], ['TEXTAREA', 'json', 2]);
  assert.deepEqual(attributes(page.find('fieldset.field'), ['role', 'aria-required']), [
    'radiogroup',
    'true',
  ]);
  assert.deepEqual(attributes(answering, ['novalidate', 'autocomplete']), ['', 'off']);
  assert.equal(page.find('.mark').getAttribute('aria-hidden'), 'true');
});

test('errors appear at their fields, and no value is lost', async (t) => {
  const page = openPage(t);
  await page.show(tool({ input: { question: 'Which order?' }, resultSchema: ORDER }));
  type(page.field('Amount'), 'some');
  await click(page.button('Send'));
  const needed = 'This needs an answer.';
  const found = [needed, needed, 'Enter a whole number of at least 1.', 'Tick this box.'];
  assert.deepEqual(problems(page), found);
  const name = page.field('Name');
  assert.equal(name.getAttribute('aria-invalid'), 'true');
  assert.equal(page.field('Small').getAttribute('aria-invalid'), 'true');
  assert.equal(document.activeElement, name);
  type(name, 'Nora');
  await settle();
  assert.equal(problems(page).length, 3);
  assert.equal(name.getAttribute('aria-invalid'), null);
  await click(page.field('Small'));
  type(page.field('Amount'), '4');
  await click(page.field('I agree'));
  type(page.field('The rest'), '[{"a": 1}]');
  assert.deepEqual(page.sent, []);

  refuse(page, 422, {
    errors: [
      { pointer: '/output/amount', detail: 'not today' },
      { pointer: '/output/rest/0/a', detail: 'is no text' },
      { pointer: '/output/place', detail: 'street is needed' },
      { pointer: '/output', detail: 'too much of it' },
      { pointer: '', detail: 'and in general' },
    ],
  });
  await click(page.button('Send'));
  assert.deepEqual(problems(page), [
    'not today',
    'street is needed',
    '/0/a: is no text',
    'too much of it; and in general',
  ]);
  assert.equal(page.find('[role=alert]').textContent, 'too much of it; and in general');
  assert.equal(document.activeElement, page.field('Amount'));
  assert.deepEqual(
    [name.value, page.field('The rest').value, page.field('Small').checked],
    ['Nora', '[{"a": 1}]', true],
  );
  // A change of a part removes the error of the group.
  type(page.field('Street'), 'Quay 1');
  await settle();
  assert.equal(problems(page).includes('street is needed'), false);
});

test('an error of a group focuses its first field, and an inner error is inside', async (t) => {
  const page = openPage(t);
  const { place } = ORDER.properties;
  await page.show(tool({ resultSchema: { type: 'object', properties: { place } } }));
  type(page.field('Street'), 'Quay 1');
  const refusal = (pointer) => ({ errors: [{ pointer, detail: 'is unknown' }] });
  const shownBelow = () =>
    page.all('.problem').find((node) => node.textContent !== '').previousElementSibling;
  refuse(page, 422, refusal('/output/place'));
  await click(page.button('Send'));
  assert.equal(document.activeElement, page.field('Street'));
  assert.equal(shownBelow().className, 'field');
  refuse(page, 422, refusal('/output/place/street'));
  await click(page.button('Send'));
  assert.equal(shownBelow(), page.field('Street'));
  assert.equal(problems(page).length, 1);
});

test('a scalar schema has one field, and no schema has none', async (t) => {
  const page = openPage(t);
  const resultSchema = { type: 'integer', title: 'Number' };
  await page.show(tool({ input: { prompt: 'How many?' }, resultSchema }));
  type(page.field('Number'), '7');
  await click(page.button('Send'));
  await page.show(tool({ callId: 'c2' }));
  assert.equal(page.find('.question').textContent, 'ask asks');
  assert.equal(page.all('.answering input, .answering textarea').length, 0);
  await click(page.button('Confirm'));
  assert.deepEqual(page.sent, [
    ['answer', 'c1', 7, SARAH],
    ['answer', 'c2', {}, SARAH],
  ]);
});

test('a button sends its option and the comment', async (t) => {
  const page = openPage(t);
  const options = ['Approve', { id: 7, label: 'Ask the board' }, { id: 8 }, 5];
  const input = { title: 'not this', message: 'Approve it?', options };
  await page.show(tool({ ui: 'buttons', input }));
  assert.equal(page.find('.question').textContent, 'Approve it?');
  assert.deepEqual(page.texts('.answering button'), [
    'Approve',
    'Ask the board',
    '{"id":8}',
    '5',
    'Decline…',
  ]);
  type(page.field('Comment (optional)'), 'in June');
  // The second click comes before the form is disabled.
  page.button('Ask the board').click();
  page.button('Approve').click();
  await settle();
  assert.deepEqual(page.sent, [
    ['answer', 'c1', { choice: options[1], comment: 'in June' }, SARAH],
  ]);
});

test('declining takes two steps and an optional reason', async (t) => {
  const page = openPage(t);
  await page.show(tool({ input: { title: 'Deploy?' }, resultSchema: ORDER }));
  const opener = page.button('Decline…');
  const panel = page.find('.declining');
  assert.ok(panel.hidden);
  await click(opener);
  assert.equal(opener.getAttribute('aria-expanded'), 'true');
  assert.equal(opener.getAttribute('aria-controls'), panel.id);
  assert.equal(document.activeElement, page.field('Why not? (optional)'));
  await click(page.button('Back'));
  assert.ok(panel.hidden);
  assert.equal(document.activeElement, opener);
  await click(opener);
  type(page.field('Why not? (optional)'), ' too risky ');
  refuse(page, 422, { errors: [{ pointer: '/reason', detail: 'is too long' }] });
  await click(page.button('Decline'));
  assert.deepEqual(problems(page), ['is too long']);
  page.space.respond = async () => {};
  await click(page.button('Decline'));
  assert.deepEqual(page.sent, Array(2).fill(['decline', 'c1', 'too risky', SARAH]));
  await page.show(tool({ callId: 'c2' }));
  await click(page.button('Decline…'));
  await click(page.button('Decline'));
  assert.deepEqual(page.sent.at(-1), ['decline', 'c2', undefined, SARAH]);
});
