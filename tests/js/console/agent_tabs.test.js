// The tabs of an agent's page: memory, goals, plans, deliveries and runs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab, waitUntilLive } from './console_page.js';
import { api, product } from './suite.js';

const says = [{ steps: [{ text: 'Done.' }] }];

const region = (page, name) => page.getByRole('region', { name, exact: true });
const form = (page, name) => page.getByRole('form', { name, exact: true });
const line = (page, list, name) =>
  page
    .getByRole('list', { name: list, exact: true })
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { name, exact: true }) });
const button = (page, name) => page.getByRole('button', { name, exact: true });

/** Opens a tab of the agent. Questions of the browser are answered with yes. */
async function openTabOf(page, agent, tab) {
  page.on('dialog', (dialog) => dialog.accept());
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/a/${agent.id}/${tab}`);
}

const stored = async (agent, what) =>
  (await api.request('GET', `/v1/agents/${agent.id}/${what}`)).items;

test('memories are added, edited in place and deleted', async (t) => {
  const agent = await api.createAgent('Mia', says);
  const put = (key, value) =>
    api.request('PUT', `/v1/agents/${agent.id}/memories/${encodeURIComponent(key)}`, { value });
  await put('color', 'Blue');
  await put('long/key', 'A sentence of this memory. '.repeat(20));
  const page = await openTab(t, { expected: [/422/] });
  await openTabOf(page, agent, 'memory');

  const color = line(page, 'Memories', 'color');
  await color.getByText('Blue').waitFor();
  await color.getByText('changed just now').waitFor();
  const long = line(page, 'Memories', 'long/key');
  assert.equal(await long.locator('details').getAttribute('open'), null);
  await long.locator('summary').click();
  await long.locator('details p').waitFor();

  await button(page, 'Edit color').click();
  const value = form(page, 'Edit color').getByRole('textbox', { name: 'Value' });
  await value.fill('');
  await button(page, 'Save').click();
  await page.waitForFunction(() => document.querySelector('[name="/value"][aria-invalid]'));
  assert.match(await value.getAttribute('aria-describedby'), /fault/);
  await value.fill('Green');
  await button(page, 'Save').click();
  await color.getByText('Green').waitFor();

  const added = form(page, 'Add a memory');
  await added.getByRole('textbox', { name: 'Key' }).fill('color');
  await added.getByRole('textbox', { name: 'Value' }).fill('Red');
  await button(page, 'Add').click();
  await added.getByText('There is a memory with this key.').waitFor();
  await added.getByRole('textbox', { name: 'Key' }).fill('home / town');
  await button(page, 'Add').click();
  await line(page, 'Memories', 'home / town').getByText('Red').waitFor();
  await added.getByText('Added').waitFor();

  await button(page, 'Delete long/key').click();
  await long.waitFor({ state: 'detached' });
  const left = (await stored(agent, 'memories')).map(({ key, value: text }) => [key, text]);
  assert.deepEqual(left, [
    ['color', 'Green'],
    ['home / town', 'Red'],
  ]);
});

test('a form waits for the list that it must not overwrite', async (t) => {
  const agent = await api.createAgent('Ida', says);
  await api.request('PUT', `/v1/agents/${agent.id}/memories/color`, { value: 'Blue' });
  const page = await openTab(t);
  let answer;
  const answered = new Promise((resolve) => (answer = resolve));
  await page.route(/memories\?/, async (route) => {
    await answered;
    await route.continue();
  });
  await openTabOf(page, agent, 'memory');
  const memory = form(page, 'Add a memory');
  await memory.getByRole('textbox', { name: 'Key' }).fill('color');
  await memory.getByRole('textbox', { name: 'Value' }).fill('Red');
  await button(page, 'Add').click();
  await memory.getByRole('button', { disabled: true }).waitFor();
  answer();
  await memory.getByText('There is a memory with this key.').waitFor();
  const [color] = await stored(agent, 'memories');
  assert.equal(color.value, 'Blue');
});

test('an empty list says what would be in it', async (t) => {
  const agent = await api.createAgent('Eve', says);
  const page = await openTab(t);
  await openTabOf(page, agent, 'memory');
  await region(page, 'Memory').getByText('The agent remembers nothing yet.').waitFor();
  for (const [tab, words] of [
    ['goals', 'The agent has no active goal.'],
    ['plans', 'The agent has no plan.'],
    ['deliveries', 'Nothing has called this agent.'],
    ['runs', 'Each time something triggers the agent'],
  ]) {
    await page.goto(`${product.base}/#/a/${agent.id}/${tab}`);
    await page.getByText(words).waitFor();
  }
});

test('goals are added, changed, completed, reopened, abandoned and deleted', async (t) => {
  const agent = await api.createAgent('Gus', says);
  await api.request('PUT', `/v1/agents/${agent.id}/goals/later`, {
    description: 'Tidy up.',
    dueAt: '2040-05-06T07:08:00Z',
  });
  const page = await openTab(t);
  await openTabOf(page, agent, 'goals');
  await line(page, 'Active goals', 'later').getByText('due').waitFor();

  const added = form(page, 'Add a goal');
  await added.getByRole('textbox', { name: 'What is to be achieved' }).fill('Ship it.');
  await added.getByRole('combobox', { name: 'Priority' }).selectOption('1');
  await added.getByRole('textbox', { name: 'Id' }).fill('q4');
  await button(page, 'Add').click();
  await line(page, 'Active goals', 'q4').getByText('priority 1 (most urgent)').waitFor();
  const list = page.getByRole('list', { name: 'Active goals', exact: true });
  assert.deepEqual(await list.getByRole('heading').allTextContents(), ['q4', 'later']);

  await added.getByRole('textbox', { name: 'What is to be achieved' }).fill('No id.');
  await button(page, 'Add').click();
  await list.getByText('No id.').waitFor();

  await button(page, 'Change later').click();
  const changed = form(page, 'Change later');
  assert.match(await changed.getByLabel('Due').inputValue(), /^2040-05-0/);
  await changed.getByLabel('Due').fill('');
  await changed.getByRole('checkbox', { name: 'Long-term' }).check();
  await button(page, 'Save').click();
  await line(page, 'Active goals', 'later').getByText('long-term').waitFor();

  await button(page, 'Complete q4').click();
  await line(page, 'Completed goals', 'q4').waitFor();
  await button(page, 'Reopen q4').click();
  await line(page, 'Active goals', 'q4').waitFor();
  await button(page, 'Abandon q4').click();
  await line(page, 'Abandoned goals', 'q4').waitFor();
  await button(page, 'Delete q4').click();
  await line(page, 'Abandoned goals', 'q4').waitFor({ state: 'detached' });

  const left = (await stored(agent, 'goals')).map(({ id, dueAt, longTerm }) => [
    id.startsWith('goal-') ? 'goal-' : id,
    dueAt,
    longTerm,
  ]);
  assert.deepEqual(left, [
    ['goal-', null, false],
    ['later', null, true],
  ]);
});

test('plans are made, changed, paused, run and deleted', async (t) => {
  const agent = await api.createAgent('Pam', says);
  const page = await openTab(t, { expected: [/422/] });
  await openTabOf(page, agent, 'plans');
  const added = form(page, 'Add a plan');
  await added.getByRole('textbox', { name: 'Name' }).fill('Report');
  await added.getByRole('textbox', { name: 'What the agent is to do' }).fill('Write it.');
  await added.getByRole('textbox', { name: 'Cron' }).fill('0 25 * * *');
  const zone = added.getByRole('combobox', { name: 'Time zone' });
  await zone.fill('Asia/Tokyo');
  await button(page, 'Add').click();
  await page.waitForFunction(() => document.querySelector('[name="/cron"][aria-invalid]'));
  await added.getByRole('textbox', { name: 'Cron' }).fill('0 9 * * 1-5');
  await button(page, 'Add').click();

  const report = line(page, 'Plans', 'Report');
  await report.getByText('Monday to Friday at 09:00').waitFor();
  await report.getByText('0 9 * * 1-5').waitFor();
  await report.getByText(/^Next in .*, your time \(.*09:00.* in Asia\/Tokyo\)$/).waitFor();
  await report.getByText('Write it.').waitFor();
  await report.getByText('The next 5 times').click();
  assert.equal(await report.getByRole('list').getByRole('listitem').count(), 5);

  await button(page, 'Pause Report').click();
  await report.getByText('No next time: the plan is paused.').waitFor();
  await button(page, 'Resume Report').click();
  await report.getByText(/^Next in/).waitFor();

  await button(page, 'Change Report').click();
  const changed = form(page, 'Change Report');
  await changed.getByRole('textbox', { name: 'Cron' }).fill('*/15 * * * *');
  await button(page, 'Save').click();
  await report.getByText('Every 15 minutes').waitFor();

  await button(page, 'Run Report now').click();
  const link = report.getByRole('link', { name: 'Open its run' });
  await link.waitFor();
  // The plan may have come due meanwhile, which makes another run.
  const runs = (await stored(agent, 'runs')).map(({ id }) => `#/r/${id}`);
  assert.ok(runs.includes(await link.getAttribute('href')), `${runs}`);

  await added.getByRole('textbox', { name: 'Name' }).fill('Reminder');
  await added.getByRole('textbox', { name: 'What the agent is to do' }).fill('Remind us.');
  await added.getByRole('combobox', { name: 'When' }).selectOption('Once, after a while');
  await added.getByRole('textbox', { name: 'After' }).fill('2 hours');
  await button(page, 'Add').click();
  const reminder = line(page, 'Plans', 'Reminder');
  await reminder.getByText('Once, 2 hours after it was set').waitFor();
  await button(page, 'Change Reminder').click();
  const time = form(page, 'Change Reminder').getByLabel('Time');
  await time.fill('2030-01-02T03:04');
  await button(page, 'Save').click();
  await reminder.getByText(/2030/).waitFor();

  await button(page, 'Delete Report').click();
  await report.waitFor({ state: 'detached' });
  assert.deepEqual(
    (await stored(agent, 'plans')).map(({ name }) => name),
    ['Reminder'],
  );
});

test('deliveries say what became of them, and are replayed', async (t) => {
  const agent = await api.createAgent('Dee', says);
  const trigger = (service) =>
    api.request('POST', `/v1/agents/${agent.id}/trigger`, { service, payload: { build: 42 } });
  const { runId } = await trigger('ci');
  await api.pause(agent);
  await trigger('jira');
  const page = await openTab(t, { expected: [/40[149]/] });
  await openTabOf(page, agent, 'deliveries');
  const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row');
  const ci = rows.filter({ hasText: 'Triggered the agent' });
  const link = ci.getByRole('link', { name: 'Open run' });
  assert.equal(await link.getAttribute('href'), `#/r/${runId}`);
  await ci.getByText('12 bytes').waitFor();
  const jira = rows.filter({ hasText: 'Did not trigger the agent because the agent is paused' });
  await jira.waitFor();
  assert.match(await rows.nth(1).textContent(), /jira/);

  await page.getByRole('combobox', { name: 'Service' }).selectOption('ci');
  await jira.waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Status' }).selectOption('Rejected');
  await page.getByText('No delivery fits these filters.').waitFor();
  await page.getByRole('combobox', { name: 'Status' }).selectOption('All');
  await page.getByRole('combobox', { name: 'Service' }).selectOption('All services');

  await api.request('PATCH', `/v1/entities/${agent.id}`, { agent: { paused: false } });
  await jira.getByRole('button', { name: /^Replay jira/ }).click();
  await rows.filter({ hasText: 'jira' }).filter({ hasText: 'Triggered the agent' }).waitFor();
});

test('a rejected delivery can’t be replayed', async (t) => {
  const agent = await api.createAgent('Rex', says);
  const webhooks = { ci: { scheme: 'github', secrets: ['NOT_SET'] } };
  await api.request('PATCH', `/v1/entities/${agent.id}`, { agent: { webhooks } });
  await fetch(`${product.base}/v1/hooks/${agent.id}/ci`, { method: 'POST', body: '{}' });
  const page = await openTab(t);
  await openTabOf(page, agent, 'deliveries');
  const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(1);
  await row.getByText('Rejected').waitFor();
  assert.equal(await row.getByRole('button').count(), 0);
});

test('the runs of the agent are a tab, too', async (t) => {
  const agent = await api.createAgent('Ron', [{ steps: [{ error: 'bad_request' }] }]);
  const other = await api.createAgent('Una', says);
  for (const { id } of [agent, other])
    await api.request('POST', `/v1/agents/${id}/trigger`, { service: 'ci', payload: null });
  const page = await openTab(t);
  await openTabOf(page, agent, 'runs');
  const table = page.getByRole('table', { name: 'Runs' });
  await table.getByText('Service ci').waitFor();
  assert.equal(await table.getByText('Service ci').count(), 1);
  await page.getByRole('combobox', { name: 'State' }).selectOption('Failed');
  await table.getByText(/^bad_request/).waitFor();
});

test('in a narrow window nothing scrolls sideways, and the open tab is in view', async (t) => {
  const agent = await api.createAgent('Nat', says);
  const word = 'x'.repeat(120);
  const path = `/v1/agents/${agent.id}`;
  await api.request('PUT', `${path}/memories/${word}`, { value: word });
  await api.request('PUT', `${path}/goals/${word}`, { description: word });
  await api.request('POST', `${path}/plans`, { name: word, instruction: word, cron: '* * * * *' });
  await api.request('POST', `${path}/trigger`, { service: 'x'.repeat(60), payload: word });
  const page = await openTab(t, { viewport: { width: 390, height: 844 } });
  await openTabOf(page, agent, 'memory');
  for (const tab of ['memory', 'goals', 'plans', 'deliveries', 'runs']) {
    await page.goto(`${product.base}/#/a/${agent.id}/${tab}`);
    const tabs = page.getByRole('navigation', { name: 'Parts of this page' });
    await tabs.locator(`[aria-current="page"][href$="/${tab}"]`).waitFor();
    await page.locator('h3, tbody tr').filter({ hasText: 'xxxxxxxx' }).first().waitFor();
    const { x, width } = await tabs.locator('[aria-current]').boundingBox();
    assert.ok(x >= 0 && x + width <= 390, `${tab} is at ${x}, and ${width} wide`);
    const widths = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.querySelector('.page-body').scrollWidth,
    ]);
    assert.ok(Math.max(...widths) <= 390, `${tab}: ${widths}`);
  }
  // Nothing is there yet, and the text has a long address.
  const empty = await api.createAgent('Nora', says);
  await page.goto(`${product.base}/#/a/${empty.id}/deliveries`);
  const address = page.getByText(`/v1/hooks/${empty.id}/SERVICE`);
  await address.waitFor();
  assert.ok(await address.evaluate((node) => node.scrollWidth <= node.clientWidth));
});
