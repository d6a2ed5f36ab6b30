// Cards and their forms with a fake server: fields, sent answers, and what survives changes of the
// page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ORDER_ANSWER, ORDER_SCHEMA } from '../../../clients/js/console/tests/order_schema.js';
import { deliver, openFakeRoom, sent } from './fake_server.js';

const ask = (page, part) => deliver(page, (data) => window.card(1, data), part);
const outcome = (page) => page.locator('.outcome');

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

test('frames do not disturb typing in a form', async (t) => {
  const page = await openFakeRoom(t);
  const first = { input: { title: 'First' } };
  const second = {
    input: { title: 'Second' },
    resultSchema: { type: 'string', title: 'Text' },
  };
  const texts = ([from, to]) =>
    Array.from({ length: to - from }, (_, index) =>
      window.text(from + index, `text ${index}`, { runId: `run ${index}` }),
    );
  await deliver(page, texts, [1, 30]);
  await deliver(page, (data) => data.map((part, index) => window.card(30 + 2 * index, part)), [
    first,
    second,
  ]);
  const field = page.getByRole('textbox', { name: 'Text' });
  await field.pressSequentially('one two');
  await field.evaluate((node) => node.setSelectionRange(4, 7));
  const state = () =>
    field.evaluate((node) => {
      const { top } = node.getBoundingClientRect();
      const { value, selectionStart, selectionEnd } = node;
      return { top, typed: [value, selectionStart, selectionEnd, node === document.activeElement] };
    });
  const before = await state();
  // Heights have fractions of pixels, and scroll positions have none.
  const isSame = ({ top, typed }, name) => {
    assert.deepEqual(typed, before.typed, name);
    assert.ok(Math.abs(top - before.top) <= 1, `moved by ${top - before.top}: ${name}`);
  };
  assert.deepEqual(before.typed, ['one two', 4, 7, true]);
  const changes = [
    // A message between the cards splits their bubble.
    () => window.text(31, 'between', { runId: 'other' }),
    () =>
      window.card(
        30,
        {
          input: { title: 'First' },
          status: 'expired',
          output: { error: 'expired' },
        },
        { rev: 2 },
      ),
    () => window.card(32, { input: { title: 'Second' } }, { rev: 2 }),
    () => ({
      type: 'member.joined',
      member: { id: 'ada', name: 'Ada the Second', type: 'agent' },
    }),
    () => window.stream('x', 'More to come', { runId: 'z', kind: 'message' }),
  ];
  for (const change of changes) {
    await deliver(page, change);
    isSame(await state(), String(change));
  }
  await deliver(page, texts, [33, 70]);
  isSame(await state(), 'messages below');
  await field.pressSequentially('three');
  assert.equal(await field.inputValue(), 'one three');
  assert.ok(await page.getByRole('button', { name: 'Go to the latest' }).isVisible());
  // After the answer the timeline follows its end again.
  await field.press('Enter');
  await deliver(page, () =>
    window.card(
      32,
      { input: { title: 'Second' }, status: 'completed', output: 'one three' },
      { rev: 3 },
    ),
  );
  await deliver(page, () => window.text(70, 'the last'));
  await page.waitForFunction(() => {
    const log = document.getElementById('log');
    return log.scrollHeight - log.scrollTop - log.clientHeight < 2;
  });
});

test('a draft survives a switch to another space', async (t) => {
  const page = await openFakeRoom(t);
  const part = { input: { title: 'Order' }, resultSchema: ORDER_SCHEMA };
  await ask(page, part);
  const form = page.getByRole('group', { name: 'Order' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Nora');
  await form.getByRole('radio', { name: 'Large' }).check();
  await form.getByRole('textbox', { name: 'Street' }).fill('Quay 1');
  await form.getByRole('checkbox', { name: 'Ribbon' }).check();
  await form.getByRole('button', { name: 'Decline…' }).click();
  await page.keyboard.type('no time');
  await page.evaluate(() => window.open());
  await form.waitFor({ state: 'detached' });
  await ask(page, part);
  assert.equal(await form.getByRole('textbox', { name: 'Name' }).inputValue(), 'Nora');
  assert.ok(await form.getByRole('radio', { name: 'Large' }).isChecked());
  assert.equal(await form.getByRole('textbox', { name: 'Street' }).inputValue(), 'Quay 1');
  assert.ok(await form.getByRole('checkbox', { name: 'Ribbon' }).isChecked());
  assert.equal(await form.getByRole('textbox', { name: 'Why not?' }).inputValue(), 'no time');
});

test('a card replaces its streamed input in place', async (t) => {
  const page = await openFakeRoom(t);
  await deliver(page, () =>
    window.stream('x', '{"title": "Dep', {
      runId: 'r',
      kind: 'tool',
      toolName: 'ask',
    }),
  );
  await page.locator('.tool summary').click();
  assert.deepEqual(await page.locator('.tool').allInnerTexts(), [
    'ask · writing\nInput\n{"title": "Dep',
  ]);
  await page.evaluate(() => (window.written = document.querySelector('.tool')));
  await deliver(page, () => window.card(1, { input: { title: 'Deploy?' } }, { streamId: 'x' }));
  await page.getByRole('group', { name: 'Deploy?' }).waitFor();
  const tools = await page.evaluate(() =>
    [...document.querySelectorAll('.tool')].map((tool) => [
      tool === window.written,
      tool.querySelector('details').open,
    ]),
  );
  assert.deepEqual(tools, [[true, true]]);
});

test('a card shows its outcome in words and its output as a table', async (t) => {
  const page = await openFakeRoom(t);
  const states = [
    [
      {
        ui: 'buttons',
        output: { choice: 'Approve', comment: 'fine' },
        resolvedBy: 'sarah',
      },
      'Approve (“fine”) · answered by Sarah',
    ],
    [{ ui: 'buttons', output: { choice: { label: 'Later' } } }, 'Later · answered by the operator'],
    [{ output: { a: 1 }, resolvedBy: 'sarah' }, 'answered by Sarah'],
    [{ output: false, resolvedBy: 'gone' }, 'answered by Someone'],
    [
      { output: { declined: true, reason: 'too risky' }, resolvedBy: 'husam' },
      'declined by Husam: too risky',
    ],
    [{ output: { declined: true }, resolvedBy: 'husam' }, 'declined by Husam'],
    [{ status: 'expired', output: { error: 'expired' } }, 'expired: nobody answered in time'],
    [{ status: 'canceled' }, 'canceled: the run ended'],
    [{ status: 'failed', output: { error: 'no such space' } }, 'failed: no such space'],
    [{ status: 'unknown' }, 'the outcome is unknown'],
  ];
  await deliver(
    page,
    (data) =>
      data.map(([part], index) =>
        window.card(index + 1, {
          status: 'completed',
          input: { title: 'T' },
          ...part,
        }),
      ),
    states,
  );
  assert.deepEqual(
    await outcome(page).allTextContents(),
    states.map(([, text]) => text),
  );
  assert.equal(await page.locator('.ask').count(), 0);
  await page.locator('.tool summary').first().click();
  const tables = page.locator('.tool').first().getByRole('table');
  assert.deepEqual(await tables.nth(1).getByRole('row').allInnerTexts(), [
    'choice\tApprove',
    'comment\tfine',
  ]);
});

test('lists of records are tables, and what is nested is JSON', async (t) => {
  const page = await openFakeRoom(t);
  const nested = { city: { name: 'Oslo' } };
  const records = [
    { city: 'Oslo', degrees: -3 },
    { city: 'Kyiv', note: null },
  ];
  await deliver(
    page,
    (outputs) =>
      outputs.map((output, index) => window.card(index + 1, { status: 'completed', output })),
    [records, nested],
  );
  const cards = page.locator('.tool');
  await cards.nth(0).locator('summary').click();
  const rows = cards.nth(0).getByRole('table').last().getByRole('row');
  assert.deepEqual(await rows.allInnerTexts(), ['city\tdegrees\tnote', 'Oslo\t-3\t', 'Kyiv\t\t–']);
  await cards.nth(1).locator('summary').click();
  assert.equal(
    await cards.nth(1).locator('pre').last().textContent(),
    JSON.stringify(nested, null, 2),
  );
});

test('a form shows its people, its deadline and an unknown component', async (t) => {
  const page = await openFakeRoom(t);
  const expiresAt = '2026-05-01T12:09:50Z';
  await ask(page, {
    ui: 'seatMap',
    input: { title: 'Where?' },
    expiresAt,
    answerBy: ['sarah', 'husam'],
    resultSchema: { type: 'string' },
  });
  await deliver(page, () =>
    window.card(2, {
      input: { title: 'When?' },
      expiresAt: '2026-05-08T11:59:00Z',
    }),
  );
  const terms = page.locator('.terms').first();
  const at = await page.evaluate(
    (time) =>
      new Date(time).toLocaleTimeString([], {
        hour: '2-digit',
        minute: '2-digit',
      }),
    expiresAt,
  );
  assert.equal(await terms.textContent(), `for Sarah or Husam to answer by ${at} (in 10 min)`);
  assert.match(await page.locator('.terms').last().textContent(), /^answer by .* \(in 7 days\)$/);
  await page.clock.runFor(9 * 60_000);
  assert.match(await terms.textContent(), /^for Sarah or Husam to answer by .* \(in \d+ s\)$/);
  await deliver(page, () => ({
    type: 'member.joined',
    member: { id: 'sarah', name: 'Sarah B', type: 'human' },
  }));
  await page.clock.runFor(60_000);
  assert.equal(await terms.textContent(), `for Sarah B or Husam to answer · expired at ${at}`);
  await page
    .getByText('This page does not know the component “seatMap”, so it shows a plain form.')
    .waitFor();
  await page.getByRole('textbox', { name: 'Answer' }).waitFor();
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

test('an agent that waits for an answer is shown as waiting', async (t) => {
  const page = await openFakeRoom(t);
  const run = (name, status, stepCount) =>
    deliver(
      page,
      (data) => ({
        type: `run.${data.name}`,
        run: { id: 'r', agentId: 'ada', ...data },
      }),
      { name, status, stepCount },
    );
  const activity = () => page.locator('#working li span').last().textContent();
  await run('waiting_tool', 'waiting_tool', 1);
  assert.equal(await activity(), 'Ada is waiting for an answer');
  await run('started', 'running', 0);
  assert.equal(await activity(), 'Ada is waiting for an answer');
  await run('resumed', 'running', 1);
  assert.equal(await activity(), 'Ada is thinking…');
  await run('waiting_tool', 'waiting_tool', 1);
  assert.equal(await activity(), 'Ada is thinking…');
  await run('waiting_tool', 'waiting_tool', 2);
  assert.equal(await activity(), 'Ada is waiting for an answer');
});

test('a card escapes markup and fits into 360 pixels', async (t) => {
  const page = await openFakeRoom(t, { viewport: { width: 360, height: 640 } });
  const markup = '<img src=x onerror="window.harmed=true"><b>bold</b>';
  const long = `${markup}${'w'.repeat(300)}`;
  const inner = {
    type: 'object',
    properties: {
      p: {
        type: 'object',
        properties: { q: { type: 'boolean', title: long } },
      },
    },
  };
  const properties = {
    [long]: { type: 'string', title: long, description: long },
    e: { enum: [long, 'b'] },
    o: inner,
  };
  const input = { title: long, [long]: long, options: [long, markup] };
  const output = { choice: long, comment: long };
  await deliver(
    page,
    (data) => [
      window.card(1, data),
      window.card(2, { ...data, ui: 'buttons', name: 'x' }),
      window.card(3, { ...data, ui: data.output.choice, status: 'completed' }),
      window.card(4, {
        ...data,
        status: 'completed',
        output: { declined: true, reason: data.output.choice },
      }),
    ],
    {
      input,
      output,
      resultSchema: { type: 'object', properties, required: ['e', long] },
    },
  );
  await page.locator('#log').getByRole('button', { name: 'Send' }).click();
  await page.getByRole('button', { name: 'Decline…' }).first().click();
  assert.equal(
    await page.evaluate(() => document.querySelector('#bubbles').querySelectorAll('img, b').length),
    0,
  );
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  const wide = await page.evaluate(() => {
    const isWide = (node) =>
      node.scrollWidth > node.clientWidth + 1 || node.getBoundingClientRect().right > 360;
    return [...document.querySelectorAll('#log, #log .bubble, #log .ask, #log .field, #log button')]
      .filter(isWide)
      .map(({ className }) => className);
  });
  assert.deepEqual(wide, []);
});
