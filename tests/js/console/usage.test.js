// The usage page: what models cost, by day, agent and model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule } from '../api_client.js';
import { openTab, waitUntilLive } from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

const today = () => new Date().toISOString().slice(0, 10);

/** A pattern for the days since `before`: two if it is past midnight now. */
const daysSince = (before) => `(${before}|${today()})`;

async function openUsage(t, address = '#/usage', options = {}) {
  const page = await openTab(t, options);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/${address}`);
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  return page;
}

const sums = (page) => page.getByRole('region', { name: 'In all' });
const total = (page, name) =>
  page
    .getByLabel('Totals')
    .locator('div')
    .filter({ has: page.getByText(name, { exact: true }) })
    .getByRole('definition');

/** Two agents answer one message. */
async function work() {
  const ana = await api.createAgent('Ana', [answerRule('It is blue.')]);
  const ben = await api.createAgent('Ben', [answerRule('It is not red at all, I think.')]);
  const space = await api.createSpace('Work', [husam, ana, ben], { maxChainDepth: 1 });
  await api.postMessage(space, husam, 'What color is it?');
  return { ana, ben };
}

test('a time without runs says what would appear', async (t) => {
  const page = await openUsage(t, '#/usage?from=2020-01-01&to=2020-01-05');
  await page.getByText('No run has ended in this time.').waitFor();
  const form = page.getByRole('form', { name: 'Own dates' });
  assert.equal(await form.getByLabel('From').inputValue(), '2020-01-01');
});

test('the cost of runs appears while they end, by agent and by model', async (t) => {
  const before = today();
  const page = await openUsage(t);
  const { ana } = await work();
  const row = (name) => sums(page).getByRole('row', { name: new RegExp(`^${name}`) });
  await row('Ana 1 ').filter({ hasText: '$' }).waitFor();
  await row('Ben 1 ').filter({ hasText: '$' }).waitFor();
  assert.match(await total(page, 'Cost').innerText(), /^\$0\.\d+$/);
  assert.match(await total(page, 'Cache reuse').innerText(), /^\d+ %$/);
  assert.equal(await total(page, 'Runs').innerText(), '2');
  const address = await sums(page).getByRole('link', { name: 'Ana' }).getAttribute('href');
  assert.match(address, new RegExp(`^#/runs\\?agentId=${ana.id}&since=.*&until=.*&sort=cost$`));
  await page.getByLabel('Totals').getByText('Against the 30 days before').waitFor();

  // The charts name their parts, and a table has their numbers.
  for (const title of ['Cost', 'Tokens']) {
    const legend = page.getByRole('list', { name: `${title}: what the patterns mean` });
    await legend.getByText('Ana').waitFor();
  }
  const days = page.getByRole('region', { name: 'Numbers of each day' });
  await days.getByText('Show the table').click();
  await days.getByRole('row', { name: new RegExp(`^${daysSince(before)} Ana 1 `) }).waitFor();

  await page.getByRole('combobox', { name: 'Group by' }).selectOption('Model');
  await row('scripted/browser-tests 2 ').waitFor();
  assert.match(page.url(), /by=model$/);
  await page.getByRole('combobox', { name: 'Group by' }).selectOption('Agent and model');
  await row('Ana · scripted/browser-tests 1 ').waitFor();
  await page.reload();
  await row('Ana · scripted/browser-tests 1 ').waitFor();
});

test('what a router costs has the name of who asked it', async (t) => {
  const page = await openTab(t);
  const item = { inputTokens: 9, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1, runs: 0 };
  const nothing = { ...item, inputTokens: 0, outputTokens: 0, cost: 0 };
  const day = today();
  const items = [
    { ...item, day, cost: 0.5, agentId: husam.id, agentName: 'Husam' },
    { ...nothing, day, agentId: sarah.id, agentName: 'Sarah' },
  ];
  await page.route(/\/v1\/usage\?.*by=day%2Cagent$/, (route) =>
    route.fulfill({ json: { items, total: items[0] } }),
  );
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/usage`);
  await sums(page).getByRole('row', { name: 'Router, asked by Husam 0 9 ' }).waitFor();
  assert.equal(await sums(page).getByRole('link').count(), 0);
  assert.equal(await page.getByText('Sarah').count(), 0);
});

test('on a phone the choice is folded and says what is chosen', async (t) => {
  const page = await openUsage(t, '#/usage', { viewport: { width: 390, height: 800 } });
  await page.getByText('Range and grouping (30 days, by agent)').click();
  const choice = page.getByRole('navigation', { name: 'Range' });
  await choice.getByRole('link', { name: 'Today' }).click();
  await page.getByText('Range and grouping (today, by agent)').waitFor();
});

test('the range is chosen by a link or by own dates, and a wrong one is refused', async (t) => {
  const before = today();
  const page = await openUsage(t, '#/usage?by=model', { expected: [/400/] });
  const range = (name) =>
    page.getByRole('navigation', { name: 'Range' }).getByRole('link', { name });
  assert.equal(await range('30 days').getAttribute('aria-current'), 'true');
  await range('7 days').click();
  await page.waitForURL(new RegExp(`to=${daysSince(before)}&by=model$`));
  assert.equal(await range('30 days').getAttribute('aria-current'), null);

  const form = page.getByRole('form', { name: 'Own dates' });
  await form.getByLabel('From').fill('2020-02-01');
  await form.getByLabel('To').fill('2020-02-03');
  await form.getByRole('button', { name: 'Show' }).click();
  await page.waitForURL(/from=2020-02-01&to=2020-02-03&by=model$/);
  await page.getByText('No run has ended in this time.').waitFor();
  await form.getByLabel('From').fill('2019-02-01');
  await form.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('main').getByRole('alert').filter({ hasText: '92' }).waitFor();
});

test('the hours of a day show when the cost rose, and lead to the runs', async (t) => {
  await work();
  const page = await openTab(t);
  const hours = Array.from({ length: 24 }, (_, hour) => (hour === 7 ? 0.5 : 0));
  const item = { inputTokens: 9, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1, runs: 1 };
  const days = [
    { ...item, day: '2026-02-17', cost: 0.7, hours: hours.map((cost) => cost * 1.4) },
    { ...item, day: '2026-02-18', cost: 0.5, hours },
  ];
  await page.route('**/v1/usage?from=2026-02-11&to=2026-02-18&by=day', (route) =>
    route.fulfill({ json: { items: days, total: days[0] } }),
  );
  await page.route('**/v1/usage?from=2026-02-18&to=2026-02-18&by=day%2Cagent', (route) =>
    route.fulfill({ json: { items: [days[1]], total: days[1] } }),
  );
  await page.route('**/v1/usage?from=2026-02-17&to=2026-02-17&by=agent', (route) =>
    route.fulfill({ json: { items: [days[0]], total: { ...item, cost: 0.25 } } }),
  );
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/usage?from=2026-02-18&to=2026-02-18`);
  assert.equal(await total(page, 'Against the day before').innerText(), '+ 100 %');
  const bars = page.getByRole('list', { name: 'Cost by hour' }).getByRole('link');
  await bars.first().waitFor();
  assert.deepEqual(
    await bars.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label'))),
    ['7:00 · $0.50, usually $0.10'],
  );
  await bars.click();
  const times = 'since=2026-02-18T07%3A00%3A00.000Z&until=2026-02-18T08%3A00%3A00.000Z';
  await page.waitForURL(`**/#/runs?${times}&sort=cost`);
});
