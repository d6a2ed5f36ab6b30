// Forms of cards with a fake server: their fields, the answers that they send, and their errors.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ORDER_ANSWER, ORDER_SCHEMA } from '../../../clients/js/console/tests/order_schema.js';
import { ask, deliver, openFakeRoom, outcome, sent } from './fake_server.js';

// The value of the focused field and the error that is shown with it.
const focused = (page) =>
  page.evaluate(() => [
    document.activeElement.value,
    document.activeElement.ariaDescribedByElements.at(-1).textContent,
  ]);

test('a form has fields of every kind and sends their values', async (t) => {
  const page = await openFakeRoom(t);
  await ask(page, {
    input: { title: 'An order', shop: 'Harbour', lines: [{ n: 1 }] },
    resultSchema: ORDER_SCHEMA,
  });
  const form = page.getByRole('group', { name: 'An order' });
  assert.deepEqual(await page.locator('.pairs div').allInnerTexts(), [
    'shop:\nHarbour',
    'lines:\n[{"n":1}]',
  ]);
  await form.getByRole('textbox', { name: 'Name' }).fill('Nora');
  await form
    .getByRole('radiogroup', { name: 'Size' })
    .getByRole('radio', { name: 'Large' })
    .check();
  await form.getByRole('textbox', { name: 'Amount' }).fill('3');
  await form.getByLabel('Day').fill('2026-05-17');
  await form.getByRole('checkbox', { name: 'A gift' }).check();
  await form.getByRole('combobox', { name: 'Country' }).selectOption('Jordan');
  await form.getByRole('group', { name: 'Extras' }).getByRole('checkbox', { name: 'Card' }).check();
  await form.getByRole('textbox', { name: 'Tags' }).fill('one\ntwo');
  await form
    .getByRole('group', { name: 'Place' })
    .getByRole('textbox', { name: 'Street' })
    .fill('Quay 1');
  await form.getByRole('textbox', { name: 'The rest' }).fill('[{"a": 1}]');
  await form.getByRole('checkbox', { name: 'I agree' }).check();
  const described = await form
    .getByRole('textbox', { name: 'Name' })
    .evaluate((node) => node.ariaDescribedByElements.map((note) => note.id));
  assert.equal(await page.locator(`#${described[0]}`).textContent(), 'As on the invoice.');
  await form.getByRole('textbox', { name: 'Name' }).press('Enter');
  await form.getByText('Sent.').waitFor();
  assert.ok(await form.getByRole('button', { name: 'Send' }).isDisabled());
  const output = ORDER_ANSWER;
  assert.deepEqual(await sent(page), [
    {
      path: '/v1/runs/r/toolCalls/c1/result',
      body: { output, senderId: 'sarah' },
    },
  ]);
});

test('errors appear at their fields, and no value is lost', async (t) => {
  const page = await openFakeRoom(t);
  await ask(page, { input: { question: 'Which order?' }, resultSchema: ORDER_SCHEMA });
  const form = page.getByRole('group', { name: 'Which order?' });
  const faults = () => form.locator('.problem').filter({ hasText: /./ }).allTextContents();
  await form.getByRole('textbox', { name: 'Amount' }).fill('some');
  await form.getByRole('button', { name: 'Send' }).click();
  const needed = 'This needs an answer.';
  assert.deepEqual(await faults(), [
    needed,
    needed,
    'Enter a whole number of at least 1.',
    'Tick this box.',
  ]);
  const name = form.getByRole('textbox', { name: 'Name' });
  assert.equal(await name.getAttribute('aria-invalid'), 'true');
  assert.deepEqual(await focused(page), ['', needed]);
  await name.fill('Nora');
  assert.equal((await faults()).length, 3);
  await form.getByRole('radio', { name: 'Small' }).check();
  await form.getByRole('textbox', { name: 'Amount' }).fill('4');
  await form.getByRole('checkbox', { name: 'I agree' }).check();
  await form.getByRole('textbox', { name: 'The rest' }).fill('[{"a": 1}]');
  assert.deepEqual(await sent(page), []);

  await page.evaluate(async () => {
    const errors = [
      { pointer: '/output/amount', detail: 'not today' },
      { pointer: '/output/rest/0/a', detail: 'is no text' },
      { pointer: '/output/place', detail: 'street is needed' },
      { pointer: '/output', detail: 'too much of it' },
      { pointer: '', detail: 'and in general' },
    ];
    window.respond = async () => {
      return window.refuse(422, { errors });
    };
  });
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByRole('alert').filter({ hasText: 'too much of it; and in general' }).waitFor();
  assert.deepEqual(await faults(), [
    'not today',
    'street is needed',
    '/0/a: is no text',
    'too much of it; and in general',
  ]);
  assert.deepEqual(await focused(page), ['4', 'not today']);
  assert.equal(await name.inputValue(), 'Nora');
  assert.equal(await form.getByRole('textbox', { name: 'The rest' }).inputValue(), '[{"a": 1}]');
});

test('a scalar schema has one field, and no schema has none', async (t) => {
  const page = await openFakeRoom(t);
  await ask(page, {
    input: { prompt: 'How many?' },
    resultSchema: { type: 'integer', title: 'Number' },
  });
  const form = page.getByRole('group', { name: 'How many?' });
  await form.getByRole('textbox', { name: 'Number' }).fill('7');
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByText('Sent.').waitFor();
  await deliver(page, () => window.card(2, {}));
  const plain = page.getByRole('group', { name: 'ask asks' });
  assert.equal(await plain.getByRole('textbox').count(), 0);
  await plain.getByRole('button', { name: 'Confirm' }).click();
  await plain.getByText('Sent.').waitFor();
  assert.deepEqual(
    (await sent(page)).map(({ body }) => body),
    [
      { output: 7, senderId: 'sarah' },
      { output: {}, senderId: 'sarah' },
    ],
  );
});

test('a button sends its option and the comment', async (t) => {
  const page = await openFakeRoom(t);
  const options = ['Approve', { id: 7, label: 'Ask the board' }, { id: 8 }, 5];
  await ask(page, {
    ui: 'buttons',
    input: { title: 'not this', message: 'Approve it?', options },
  });
  const form = page.getByRole('group', { name: 'Approve it?' });
  assert.deepEqual(await form.getByRole('button').allTextContents(), [
    'Approve',
    'Ask the board',
    '{"id":8}',
    '5',
    'Decline…',
  ]);
  await form.getByRole('textbox', { name: 'Comment' }).fill('in June');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await form.getByText('Sent.').waitFor();
  const output = {
    choice: { id: 7, label: 'Ask the board' },
    comment: 'in June',
  };
  assert.deepEqual(
    (await sent(page)).map(({ body }) => body),
    [{ output, senderId: 'sarah' }],
  );
});

test('declining takes two steps and an optional reason', async (t) => {
  const page = await openFakeRoom(t);
  await ask(page, { input: { title: 'Deploy?' }, resultSchema: ORDER_SCHEMA });
  const form = page.getByRole('group', { name: 'Deploy?' });
  const opener = form.getByRole('button', { name: 'Decline…' });
  await opener.click();
  assert.equal(await opener.getAttribute('aria-expanded'), 'true');
  await form.getByRole('button', { name: 'Back' }).click();
  assert.ok(await opener.evaluate((node) => node === document.activeElement));
  await opener.click();
  await page.keyboard.type('too risky');
  await page.keyboard.press('Enter');
  await form.getByText('Sent.').waitFor();
  assert.deepEqual(
    (await sent(page)).map(({ body }) => body),
    [{ declined: true, reason: 'too risky', senderId: 'sarah' }],
  );
});

test('a failed answer keeps the typed value, and a closed form shows its outcome', async (t) => {
  const page = await openFakeRoom(t);
  await ask(page, {
    input: { title: 'Who?' },
    resultSchema: { type: 'string', title: 'Who' },
  });
  const form = page.getByRole('group', { name: 'Who?' });
  const refuse = (status, body) =>
    page.evaluate(
      async ([status, body]) => {
        window.respond = async () => {
          return window.refuse(status, body);
        };
      },
      [status, body],
    );
  const field = form.getByRole('textbox', { name: 'Who' });
  await field.fill('Sarah');
  for (const [status, text] of [
    [0, 'can’t be reached'],
    [503, 'answered 503'],
    [403, 'answered 403'],
  ]) {
    await refuse(status);
    await field.press('Enter');
    await form.getByRole('alert').filter({ hasText: text }).waitFor();
    const found = await field.evaluate((node) => [
      node.value,
      node === document.activeElement,
      node.matches(':disabled'),
    ]);
    assert.deepEqual(found, ['Sarah', true, false]);
  }
  await refuse(409, { detail: 'someone else answered' });
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByRole('alert').filter({ hasText: 'someone else answered' }).waitFor();
  assert.ok(await field.isDisabled());
  await deliver(page, () =>
    window.card(1, { status: 'completed', output: 'Husam', resolvedBy: 'husam' }, { rev: 2 }),
  );
  assert.equal(await outcome(page).textContent(), 'answered by Husam');
  assert.equal(await page.locator('.answered').textContent(), 'Husam');
  assert.equal(await form.count(), 0);
  assert.ok(
    await outcome(page).evaluate((node) => node === document.activeElement),
    'the focus moved to the top of the page',
  );
});

test('nested fields show errors of the server but not their pattern', async (t) => {
  const page = await openFakeRoom(t);
  const zip = { type: 'string', pattern: '^[0-9]{5}$' };
  const address = {
    type: 'object',
    properties: { street: { type: 'string' }, zip },
    required: ['street'],
  };
  await ask(page, {
    input: { title: 'Where?' },
    resultSchema: { type: 'object', properties: { address } },
  });
  const form = page.getByRole('group', { name: 'Where?' });
  const field = (name) => form.locator('.field .field').filter({ has: page.getByLabel(name) });
  assert.equal(await form.locator('.mark').count(), 0);
  assert.equal(
    await field('street').locator('.note').textContent(),
    'required if you fill in this part',
  );
  assert.equal(await field('zip').locator('.note').count(), 0);
  await form.getByLabel('zip').fill('12');
  await form.getByRole('button', { name: 'Send' }).click();
  assert.equal(await field('street').locator('.problem').textContent(), 'This needs an answer.');
  assert.equal(
    await field('zip').locator('.problem').textContent(),
    'This does not have the expected form.',
  );
  assert.equal(await form.getByLabel('zip').getAttribute('title'), '^[0-9]{5}$');
  await form.getByLabel('zip').fill('12345');
  await form.getByLabel('street').fill('Quay');
  await page.evaluate(async () => {
    window.respond = async () => {
      return window.refuse(422, {
        errors: [{ pointer: '/output/address/street', detail: 'is missing' }],
      });
    };
  });
  await form.getByRole('button', { name: 'Send' }).click();
  await field('street')
    .locator('.problem')
    .filter({ hasText: /^is missing$/ })
    .waitFor();
  assert.deepEqual(await focused(page), ['Quay', 'is missing']);
});
