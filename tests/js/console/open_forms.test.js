// Cards with a fake server: the people who may answer, the card before and after an answer, and the
// position at which a space opens.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, deliver, openFakeRoom, outcome, sent } from './fake_server.js';

test('the selected sender answers a form if answerBy allows it', async (t) => {
  const page = await openFakeRoom(t);
  const resultSchema = { type: 'string', title: 'Who' };
  await ask(page, {
    input: { title: 'Who?' },
    answerBy: ['husam', 'ada'],
    resultSchema,
  });
  await deliver(page, (data) => window.card(2, data), {
    input: { title: 'Anyone?' },
  });
  const form = page.getByRole('group', { name: 'Who?' });
  const field = form.getByRole('textbox', { name: 'Who' });
  const blocked = page.locator('.blocked');
  assert.equal(await page.locator('.terms').first().textContent(), 'for Husam or Ada to answer');
  assert.deepEqual(await blocked.allTextContents(), ['To answer, switch “as” below to Husam.']);
  assert.deepEqual(
    [await field.isDisabled(), await form.getByRole('button', { name: 'Decline…' }).isDisabled()],
    [true, true],
  );
  await page.evaluate(() => window.sendAs('husam'));
  assert.equal(await blocked.count(), 0);
  await field.fill('Nora');
  await page.evaluate(() => window.sendAs('sarah'));
  assert.deepEqual([await field.isDisabled(), await field.inputValue()], [true, 'Nora']);
  await page.evaluate(() => window.sendAs('husam'));
  await field.press('Enter');
  await form.getByText('Sent.').waitFor();
  // An answer that is being sent can't be sent again by selecting another person.
  await page.evaluate(() => ['sarah', 'husam'].forEach(window.sendAs));
  assert.ok(await field.isDisabled());
  await deliver(page, () => ({ type: 'member.left', entityId: 'husam' }));
  // Now nobody is chosen, and the operator may answer in no name.
  assert.equal(await blocked.count(), 0);
  await page.evaluate(() => window.sendAs('sarah'));
  assert.deepEqual(await blocked.allTextContents(), ['No person in this space may answer this.']);
  await page
    .getByRole('group', { name: 'Anyone?' })
    .getByRole('button', { name: 'Confirm' })
    .click();
  await page.getByRole('group', { name: 'Anyone?' }).getByText('Sent.').waitFor();
  await deliver(page, () => ({ type: 'member.left', entityId: 'sarah' }));
  assert.equal(await blocked.count(), 0);
  await deliver(page, (data) => window.card(3, data), {
    input: { title: 'Nobody?' },
  });
  await page
    .getByRole('group', { name: 'Nobody?' })
    .getByRole('button', { name: 'Confirm' })
    .click();
  await page.getByRole('group', { name: 'Nobody?' }).getByText('Sent.').waitFor();
  const bodies = (await sent(page)).map(({ body }) => body);
  assert.deepEqual(bodies, [
    { output: 'Nora', senderId: 'husam' },
    { output: {}, senderId: 'sarah' },
    { output: {} },
  ]);
});

test('a card shows the answer under the labels of the form', async (t) => {
  const page = await openFakeRoom(t);
  const place = {
    type: 'object',
    title: 'Place',
    properties: { street: { type: 'string', title: 'Street' } },
  };
  const properties = {
    name: { type: 'string', title: 'What would you like?' },
    gift: { type: 'boolean' },
    extras: { type: 'array', items: { enum: ['milk', 'sugar'] } },
    size: { enum: [{ label: 'Large', id: 3 }] },
    when: { type: 'string', format: 'date-time' },
    place,
  };
  const output = {
    name: 'n'.repeat(300),
    gift: true,
    extras: ['milk', 'sugar'],
    size: { label: 'Large', id: 3 },
    when: '2026-05-17T10:00:00Z',
    place: { street: 'Quay 1', city: 'Oslo' },
    none: [],
    empty: '',
    lines: [{ sku: 'A' }, { sku: 'B', isGift: false }],
  };
  await ask(page, {
    input: { title: 'T' },
    status: 'completed',
    resultSchema: { type: 'object', properties },
    output,
    resolvedBy: 'sarah',
  });
  const rows = page.locator('.answered div');
  const when = await page.evaluate(
    (time) =>
      new Date(time).toLocaleString([], {
        dateStyle: 'medium',
        timeStyle: 'short',
      }),
    output.when,
  );
  assert.deepEqual(
    await rows.evaluateAll((nodes) =>
      nodes.map((node) => [...node.children].map(({ textContent }) => textContent)),
    ),
    [
      ['What would you like?', `${'n'.repeat(200)}…`],
      ['gift:', 'yes'],
      ['extras:', 'milk, sugar'],
      ['size:', 'Large'],
      ['when:', when],
      ['Place:', 'Street: Quay 1, city: Oslo'],
      ['none:', '–'],
      ['empty:', '–'],
      ['lines:', 'sku: A; sku: B, isGift: no'],
    ],
  );
  assert.equal(await outcome(page).textContent(), 'answered by Sarah');
  const order = await page
    .locator('.tool > *')
    .evaluateAll((nodes) => nodes.map(({ className, tagName }) => className || tagName));
  assert.deepEqual(order, ['question', 'pairs answered', 'outcome', 'DETAILS']);
  await page.locator('.tool summary').click();
  assert.equal(
    await page.locator('.tool pre').last().textContent(),
    JSON.stringify(output, null, 2),
  );

  const others = [
    { output: 3 },
    { output: false },
    { output: ['a', 'b'] },
    { output: {} },
    { output: null },
    { ui: 'buttons', output: { choice: 'Yes' } },
    { output: { choice: 'Yes' } },
    { output: { a: 1 }, resultSchema: { properties: [], title: 5 } },
    { output: { constructor: 2 }, resultSchema: { properties: {} } },
    { output: { declined: true } },
    { status: 'expired', output: { error: 'expired' } },
  ];
  await deliver(
    page,
    (data) =>
      data.map((part, index) =>
        window.card(index + 2, {
          status: 'completed',
          input: { title: 'T' },
          ...part,
        }),
      ),
    others,
  );
  const textOf = (nodes) =>
    nodes.map((node) => node.querySelector('.answered')?.textContent ?? null);
  const shown = (await page.locator('.tool').evaluateAll(textOf)).slice(1);
  assert.deepEqual(shown, [
    '3',
    'no',
    'a, b',
    null,
    null,
    null,
    'choice:Yes',
    'a:1',
    'constructor:2',
    null,
    null,
  ]);
});

test('a call without a form shows its output in its summary', async (t) => {
  const page = await openFakeRoom(t);
  const outputs = ['from 9\n to 17', { open: [9, 17] }, 'x'.repeat(200), 0, '', null];
  await deliver(
    page,
    (data) =>
      data.map((output, index) =>
        // Calls of one run would be one row.
        window.card(
          index + 1,
          { ui: null, status: 'completed', output },
          { runId: `run ${index}` },
        ),
      ),
    outputs,
  );
  const lines = ['from 9 to 17', '{"open":[9,17]}', `${'x'.repeat(120)}…`, '0', '', ''];
  assert.deepEqual(
    await page.locator('.tool summary').allTextContents(),
    lines.map((line) => `ask · completed ${line}`),
  );
  await page.locator('.tool summary').nth(2).click();
  assert.equal(await page.locator('.tool').nth(2).locator('pre').last().textContent(), outputs[2]);
});

test('a message is the heading, or a paragraph if there is a title', async (t) => {
  const page = await openFakeRoom(t);
  const inputs = [
    { message: 'What to bring?', table: 7 },
    {
      title: 'Your order',
      table: 7,
      message: 'What to bring?',
      text: 'Anything.',
    },
    { message: 5, title: 'Your order' },
    { text: 'Only this' },
  ];
  await deliver(
    page,
    (data) => data.map((input, index) => window.card(index + 1, { input })),
    inputs,
  );
  const above = await page
    .locator('.tool')
    .evaluateAll((tools) =>
      tools.map((tool) =>
        [...tool.querySelectorAll('.question, .paragraph, dt, dd')].map(
          ({ textContent }) => textContent,
        ),
      ),
    );
  const order = ['Your order', 'What to bring?', 'Anything.', 'table:', '7'];
  assert.deepEqual(above, [
    ['What to bring?', 'table:', '7'],
    order,
    ['Your order', 'message:', '5'],
    ['Only this'],
  ]);
});

test('a space opens at its end, or at the question of a long form', async (t) => {
  const page = await openFakeRoom(t);
  const properties = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`field ${index}`, { type: 'string' }]),
  );
  const long = {
    input: { title: 'Long' },
    resultSchema: { type: 'object', properties },
  };
  // The messages are the first page of the space.
  const openWith = (parts) =>
    page.evaluate((data) => {
      const before = Array.from({ length: 30 }, (_, index) =>
        window.text(index + 1, 'before', { runId: `run ${index}` }),
      );
      return window.open([...before, ...data.map((part, index) => window.card(index + 31, part))]);
    }, parts);
  const scrollPosition = () =>
    page.evaluate(() => {
      const log = document.getElementById('log');
      const top = (node) =>
        node && Math.round(node.getBoundingClientRect().top - log.getBoundingClientRect().top);
      const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 2;
      return {
        isAtEnd,
        top: top([...document.querySelectorAll('.question')].at(-1)),
      };
    });
  const latest = page.getByRole('button', { name: 'Go to the latest' });

  await openWith([long]);
  // The first form shows as soon as its script is loaded.
  await latest.waitFor();
  const opened = await scrollPosition();
  assert.ok(!opened.isAtEnd && opened.top >= 0 && opened.top < 80, JSON.stringify(opened));
  // New messages do not move the page.
  await deliver(page, () => window.text(40, 'later', { runId: 'other' }));
  assert.deepEqual(await scrollPosition(), opened);
  await latest.click();
  assert.ok((await scrollPosition()).isAtEnd);
  await deliver(page, () => window.text(41, 'later still', { runId: 'another' }));
  assert.ok((await scrollPosition()).isAtEnd);

  const others = [
    [{ input: { title: 'Short' } }],
    [long, { input: { title: 'Short' } }],
    [{ ...long, status: 'expired' }],
    [],
  ];
  for (const parts of others) {
    await openWith(parts);
    assert.ok((await scrollPosition()).isAtEnd, JSON.stringify(parts.map(({ input }) => input)));
    assert.ok(await latest.isHidden());
  }

  // When somebody else answers the form, the page follows the end again.
  await openWith([long]);
  assert.equal((await scrollPosition()).isAtEnd, false);
  await deliver(
    page,
    (data) => window.card(31, { ...data, status: 'completed', output: {} }, { rev: 2 }),
    long,
  );
  await deliver(page, () =>
    Array.from({ length: 20 }, (_, index) =>
      window.text(32 + index, 'after', { runId: `after ${index}` }),
    ),
  );
  assert.ok((await scrollPosition()).isAtEnd);
});

test('fields are aligned, and a line separates two questions', async (t) => {
  const page = await openFakeRoom(t);
  const inner = { type: 'object', properties: { a: { type: 'string' } } };
  const lines = { type: 'array', items: { type: 'string' } };
  const properties = {
    text: { type: 'string' },
    size: { enum: ['S', 'M'] },
    list: { enum: [1, 2] },
    lines,
    inner,
  };
  await ask(page, {
    input: { title: 'First' },
    resultSchema: { type: 'object', properties, required: ['size'] },
  });
  await deliver(page, () => [
    window.card(2, { input: { title: 'Second' } }),
    window.card(3, { ui: null, status: 'completed', output: 1 }),
  ]);
  const rights = await page.locator('.fields > .field').evaluateAll((fields) => {
    const boxes = fields.map(
      (field) => field.querySelector(':scope > input, :scope > select, :scope > textarea') ?? field,
    );
    return boxes.map((box) => Math.round(box.getBoundingClientRect().right));
  });
  assert.equal(new Set(rights).size, 1, String(rights));
  const between = await page
    .locator('.entry')
    .evaluateAll((entries) => entries.map((entry) => getComputedStyle(entry).borderTopWidth));
  assert.deepEqual(between, ['0px', '1px', '0px']);
});
