// Cards with a fake server: what they show before, during and after a call.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, deliver, openFakeRoom, outcome } from './fake_server.js';

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
    [
      { ui: 'buttons', output: { choice: { label: 'Later' } }, resolvedBy: { kind: 'operator' } },
      'Later · answered by the operator',
    ],
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
