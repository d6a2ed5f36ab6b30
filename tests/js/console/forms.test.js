// Forms from end to end: an agent asks, a person answers, and the agent continues.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callRule, formTool } from '../api_client.js';
import { openSpace, openTab, send, storedEntry } from './console_page.js';
import { api, husam, sarah } from './suite.js';

const APPROVAL = {
  message: 'Deploy build 4711?',
  options: ['Approve', 'Reject'],
};
const ORDER = {
  type: 'object',
  required: ['name', 'amount', 'lines'],
  properties: {
    name: { type: 'string', title: 'Name', minLength: 2 },
    amount: { type: 'integer', title: 'Amount', minimum: 1 },
    price: { type: 'number', title: 'Price' },
    size: { type: 'string', title: 'Size', enum: ['Small', 'Large'] },
    gift: { type: 'boolean', title: 'A gift' },
    day: { type: 'string', format: 'date', title: 'Day' },
    tags: {
      type: 'array',
      title: 'Tags',
      items: { type: 'string' },
      uniqueItems: true,
    },
    note: { type: ['string', 'null'], title: 'Note' },
    lines: {
      type: 'array',
      title: 'Lines',
      items: {
        type: 'object',
        required: ['sku'],
        properties: { sku: { type: 'string', maxLength: 3 } },
      },
    },
  },
};

/** Opens a space in which Ada asks after each message, and sends a first message. */
async function openForm(
  t,
  name,
  { execution, input, then = 'The answer is {{result}}.', wordDelayMs = 0, expected = [] },
) {
  const ada = await api.createAgent('Ada', [callRule('ask', input, then)], wordDelayMs, [
    formTool('ask', execution),
  ]);
  const space = await api.createSpace(name, [husam, sarah, ada]);
  const page = await openTab(t, { expected });
  await openSpace(page, name);
  await send(page, 'Begin, please.');
  return {
    page,
    space,
    form: page.getByRole('group', { name: input.message ?? input.title }),
  };
}

const outcome = (page, text) => page.locator('.outcome').filter({ hasText: text }).waitFor();
const cardIn = async (space) =>
  (await api.messages(space)).find(({ parts }) => parts[0].type === 'tool');
const buttons = (more) => ({
  execution: { ui: 'buttons', ...more },
  input: APPROVAL,
});

test('an agent continues with the button that a person presses', async (t) => {
  const { page, space, form } = await openForm(t, 'Buttons', {
    ...buttons(),
    then: '{{result.choice}}, since {{result.comment}}',
  });
  await form.waitFor();
  await page.locator('#working li').filter({ hasText: 'Ada is waiting for an answer' }).waitFor();
  assert.match(await page.locator('.terms').textContent(), /^answer by .* \(in (9|10) min\)$/);
  await form.getByRole('textbox', { name: 'Comment' }).fill('it is tested');
  await form.getByRole('button', { name: 'Approve' }).press('Enter');
  await outcome(page, 'Approve (“it is tested”) · answered by Husam');
  await form.waitFor({ state: 'detached' });
  await storedEntry(page, 'Approve, since it is tested').waitFor();
  await page.locator('#working li').waitFor({ state: 'detached' });
  const { parts } = await cardIn(space);
  assert.deepEqual(
    [parts[0].status, parts[0].output, parts[0].resolvedBy],
    ['completed', { choice: 'Approve', comment: 'it is tested' }, husam.id],
  );
});

test('a form sends values of every kind and shows validation errors at fields', async (t) => {
  const input = { title: 'An order', shop: 'Harbour' };
  const { page, form, space } = await openForm(t, 'Form', {
    execution: { ui: 'form', resultSchema: ORDER },
    input,
    expected: [/status of 422/],
  });
  await form.getByRole('textbox', { name: 'Name' }).fill('Nora');
  await form.getByRole('textbox', { name: 'Amount' }).fill('3');
  await form.getByRole('textbox', { name: 'Price' }).fill('12.50');
  await form.getByRole('combobox', { name: 'Size' }).selectOption('Large');
  await form.getByRole('checkbox', { name: 'A gift' }).check();
  await form.getByLabel('Day').fill('2026-05-17');
  await form.getByRole('textbox', { name: 'Tags' }).fill('red\nred');
  await form.getByRole('textbox', { name: 'Lines' }).fill('[{"sku": "A-17"}]');
  await form.getByRole('button', { name: 'Send' }).click();

  const tags = form.locator('.field').filter({ has: page.getByLabel('Tags') });
  const lines = form.locator('.field').filter({ has: page.getByLabel('Lines') });
  await tags.locator('.problem').filter({ hasText: /./ }).waitFor();
  assert.match(await lines.locator('.problem').textContent(), /^\/0\/sku: /);
  assert.equal(await form.locator('[role=alert]').textContent(), '');
  assert.equal(await form.getByRole('textbox', { name: 'Name' }).inputValue(), 'Nora');
  assert.ok(await tags.getByRole('textbox').evaluate((node) => node === document.activeElement));

  await form.getByRole('textbox', { name: 'Tags' }).fill('red\nround');
  await form.getByRole('textbox', { name: 'Lines' }).fill('[{"sku": "A17"}]');
  await form.getByRole('button', { name: 'Send' }).click();
  await outcome(page, 'answered by Husam');
  const [tagged, ordered] = [['red', 'round'], [{ sku: 'A17' }]];
  const output = {
    name: 'Nora',
    amount: 3,
    price: 12.5,
    size: 'Large',
    gift: true,
    day: '2026-05-17',
    tags: tagged,
    lines: ordered,
  };
  assert.deepEqual((await cardIn(space)).parts[0].output, output);
  const reply = page
    .locator('.entry[data-state="stored"] .text')
    .filter({ hasText: 'The answer is' });
  await reply.waitFor();
  assert.deepEqual(
    JSON.parse((await reply.textContent()).slice('The answer is '.length, -1)),
    output,
  );
});

test('a person declines with a reason', async (t) => {
  const { page, form } = await openForm(t, 'Declining', {
    ...buttons(),
    then: '{{result.declined}}: {{result.reason}}',
  });
  await form.getByRole('button', { name: 'Decline…' }).click();
  await page.keyboard.type('too risky');
  await page.keyboard.press('Enter');
  await outcome(page, 'declined by Husam: too risky');
  await storedEntry(page, 'true: too risky').waitFor();
});

test('the first of two answers wins, and the other person sees it', async (t) => {
  const { page, space, form } = await openForm(t, 'Two answer', {
    ...buttons(),
    then: 'It is {{result.choice}}.',
    expected: [/status of 409/],
  });
  await form.waitFor();
  const { runId, parts } = await cardIn(space);
  await page.route('**/result', async (route) => {
    await api.answer(sarah, runId, parts[0].callId, {
      output: { choice: 'Reject' },
    });
    await route.fallback();
  });
  await form.getByRole('button', { name: 'Approve' }).click();
  await outcome(page, 'Reject · answered by Sarah');
  await form.waitFor({ state: 'detached' });
  await storedEntry(page, 'It is Reject.').waitFor();
});

test('a form closes while typing when somebody else answers it', async (t) => {
  const { page, space, form } = await openForm(t, 'Overtaken', {
    ...buttons({ answerBy: [sarah.id] }),
    then: 'It is {{result.choice}}.',
  });
  await page.getByRole('combobox', { name: 'as' }).selectOption('Sarah');
  assert.match(await page.locator('.terms').textContent(), /^for Sarah to answer by /);
  await form.getByRole('textbox', { name: 'Comment' }).pressSequentially('I would');
  const { runId, parts } = await cardIn(space);
  await api.answer(sarah, runId, parts[0].callId, {
    declined: true,
    reason: 'not now',
  });
  await outcome(page, 'declined by Sarah: not now');
  assert.ok(
    await page.locator('.outcome').evaluate((node) => node === document.activeElement),
    'the focus moved to the top of the page',
  );
});

test('a form for one person is answered as that person', async (t) => {
  const { page, space, form } = await openForm(t, 'For Sarah', {
    ...buttons({ answerBy: [sarah.id] }),
    then: 'It is {{result.choice}}.',
  });
  await page.getByText('To answer, switch “as” below to Sarah.').waitFor();
  assert.ok(await form.getByRole('button', { name: 'Approve' }).isDisabled());
  await form.getByText('answers as Husam', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'as' }).selectOption('Sarah');
  await form.getByText('answers as Sarah', { exact: true }).waitFor();
  await form.getByRole('button', { name: 'Approve' }).click();
  await outcome(page, 'Approve · answered by Sarah');
  await storedEntry(page, 'It is Approve.').waitFor();
  assert.equal((await cardIn(space)).parts[0].resolvedBy, sarah.id);
});

test('an answer counts once if its response is lost', async (t) => {
  const { page, form } = await openForm(t, 'Lost', {
    ...buttons(),
    then: 'It is {{result.choice}}.',
    expected: [/ERR_FAILED/, /status of 409/],
  });
  await page.route('**/result', async (route) => {
    await route.fetch();
    await route.abort('failed');
  });
  await form.getByRole('button', { name: 'Approve' }).click();
  await outcome(page, 'Approve · answered by Husam');
  await storedEntry(page, 'It is Approve.').waitFor();
});

test('a form expires, and the agent continues', async (t) => {
  const { page, form } = await openForm(t, 'Expiring', {
    // Long enough for a slow page to show it first.
    ...buttons({ expiresAfter: '10 seconds' }),
    then: 'Nobody: {{result.error}}',
  });
  await form.waitFor();
  await outcome(page, 'expired: nobody answered in time');
  await form.waitFor({ state: 'detached' });
  await storedEntry(page, 'Nobody: expired').waitFor();
});

test('stopping the run cancels its form', async (t) => {
  const { page, form } = await openForm(t, 'Stopped', buttons());
  await form.waitFor();
  await page.getByRole('button', { name: 'Stop Ada' }).click();
  await outcome(page, 'canceled: the run ended');
  await form.waitFor({ state: 'detached' });
});

test('typed values survive new messages and a switch to another space', async (t) => {
  await api.createSpace('Elsewhere', [husam]);
  const { page, space, form } = await openForm(t, 'Talking on', {
    execution: { ui: 'form', resultSchema: ORDER },
    input: { title: 'An order' },
  });
  const field = form.getByRole('textbox', { name: 'Name' });
  await field.pressSequentially('Nora of the Harbour');
  await field.evaluate((node) => node.setSelectionRange(5, 7));
  for (let number = 1; number <= 8; number += 1)
    await api.postMessage(space, sarah, `number ${number}`);
  await storedEntry(page, 'number 8').waitFor();
  // Ada asks again after these messages, so there is at least one more form.
  await form.nth(1).waitFor();
  const first = form.first().getByRole('textbox', { name: 'Name' });
  const found = await first.evaluate((node) => [
    node.value,
    node.selectionStart,
    node.selectionEnd,
    node === document.activeElement,
  ]);
  assert.deepEqual(found, ['Nora of the Harbour', 5, 7, true]);

  for (const name of ['Elsewhere', 'Talking on']) {
    await page.getByRole('navigation', { name: 'Spaces' }).getByRole('link', { name }).click();
    await page.getByRole('heading', { name }).waitFor();
  }
  assert.equal(await first.inputValue(), 'Nora of the Harbour');
});

test('a form replaces its streamed input in place', async (t) => {
  const { page, form } = await openForm(t, 'Streaming', {
    ...buttons(),
    wordDelayMs: 1000,
  });
  await page.waitForFunction(() => {
    window.written = document.querySelector('.entry[data-state="writing"] .tool');
    return window.written !== null;
  });
  await form.waitFor();
  assert.deepEqual(
    await page.evaluate(() =>
      [...document.querySelectorAll('.tool')].map((tool) => tool === window.written),
    ),
    [true],
  );
});

test('a form and its answer survive a reload', async (t) => {
  const { page, form } = await openForm(t, 'Reloaded', {
    ...buttons(),
    then: 'It is {{result.choice}}.',
  });
  await form.waitFor();
  await page.reload();
  await page.locator('#working li').filter({ hasText: 'Ada is waiting for an answer' }).waitFor();
  await form.getByRole('button', { name: 'Reject' }).click();
  await outcome(page, 'Reject · answered by Husam');
  await storedEntry(page, 'It is Reject.').waitFor();
  await page.reload();
  await outcome(page, 'Reject · answered by Husam');
});
