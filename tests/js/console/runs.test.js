// The page of runs: its filters, the runs that need a person, stopping and repeating.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { answerRule, callRule, formTool } from '../api_client.js';
import { openTab, waitUntilLive } from './console_page.js';
import { api, husam, product } from './suite.js';

const fails = [{ steps: [{ error: 'bad_request' }] }];
const stays = [
  { steps: [{ calls: [{ tool: 'skip_response', input: { reason: 'Ana knows better.' } }] }] },
];
const asks = [callRule('approve', {}, 'Thank you.')];
const approve = formTool('approve', { ui: 'form', resultSchema: { type: 'string' } });

const table = (page, name) => page.getByRole('table', { name, exact: true });
const all = (page) => table(page, 'All runs, newest first');
const filter = (page, name) => page.getByRole('combobox', { name, exact: true });

/** A space of its own for an agent, with a message that triggers it. */
async function wake(name, rules, tools = []) {
  const agent = await api.createAgent(name, rules, 0, tools);
  const space = await api.createSpace(`Space of ${name}`, [husam, agent], { maxChainDepth: 1 });
  await api.postMessage(space, husam, `Hello ${name}`);
  return { agent, space };
}

/** The run of the agent, as soon as it has this status. */
async function runWith(agent, status) {
  for (let tries = 0; tries < 300; tries += 1) {
    const path = `/v1/agents/${agent.id}/runs?status=${status}`;
    const { items } = await api.request('GET', path);
    if (items.length > 0) return items[0];
    await delay(100);
  }
  throw new Error(`no run of ${agent.name} is ${status}`);
}

async function openRuns(page, query = '') {
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/runs${query}`);
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
}

test('waiting and failed runs come first, and each row says what happened', async (t) => {
  const fay = await wake('Fay', fails);
  const quinn = await wake('Quinn', stays);
  const wren = await wake('Wren', asks, [approve]);
  await Promise.all([
    runWith(fay.agent, 'failed'),
    runWith(quinn.agent, 'completed'),
    runWith(wren.agent, 'waiting_tool'),
  ]);
  const page = await openTab(t);
  await openRuns(page);

  const waiting = table(page, 'Waiting for an answer').getByRole('row', { name: /Wren/ });
  await waiting.getByRole('link', { name: 'Waiting for an answer' }).waitFor();
  const failed = table(page, 'Failed in the last day').getByRole('row', { name: /Fay/ });
  await failed.getByText(/^bad_request: /).waitFor();
  await failed.getByText('Hello Fay').waitFor();
  const silent = all(page).getByRole('row', { name: /Stayed silent.*Quinn/ });
  await silent.getByText('“Ana knows better.”').waitFor();
  assert.deepEqual(await page.getByRole('heading', { level: 2 }).allTextContents(), [
    ...(await page.getByRole('navigation').getByRole('heading', { level: 2 }).allTextContents()),
    'Waiting for an answer',
    'Failed in the last day',
    'All runs, newest first',
  ]);

  const place = silent.getByRole('link', { name: 'Space of Quinn' });
  assert.equal(await place.getAttribute('href'), `#/s/${quinn.space.id}/m/1`);
  const run = await runWith(quinn.agent, 'completed');
  await silent.getByRole('link', { name: 'Stayed silent' }).click();
  await page.waitForURL(`**/#/r/${run.id}`);
});

test('the filters change the address, and the address is what is listed', async (t) => {
  const one = await wake('Ida', [answerRule('Hi.')]);
  const other = await wake('Jo', fails);
  await Promise.all([runWith(one.agent, 'completed'), runWith(other.agent, 'failed')]);
  const page = await openTab(t);
  await openRuns(page);
  await filter(page, 'Agent').selectOption({ label: 'Ida' });
  await page.waitForURL(`**/#/runs?agentId=${one.agent.id}`);
  await all(page).getByRole('row', { name: /Ida/ }).waitFor();
  await page.waitForFunction(() => !document.querySelector('main').innerText.includes('Hello Jo'));

  await filter(page, 'State').selectOption('Failed');
  await page.getByText('No run fits these filters.').waitFor();
  await page.getByRole('heading', { name: 'Failed, newest first' }).waitFor();
  await page.goBack();
  await all(page).getByRole('row', { name: /Ida/ }).waitFor();

  await page.getByRole('link', { name: 'Show all' }).click();
  await page.waitForURL('**/#/runs');
  await filter(page, 'Since').selectOption('Last hour');
  await page.getByRole('heading', { name: 'Failed in the last hour' }).waitFor();
  await filter(page, 'Space').selectOption({ label: 'Space of Jo' });
  await all(page).getByRole('row', { name: /Jo/ }).waitFor();
  await page.reload();
  await table(page, 'Failed in the last hour').getByRole('row', { name: /Jo/ }).waitFor();
  assert.equal(await filter(page, 'Since').inputValue(), 'hour');
});

test('a run is stopped, and then repeated', async (t) => {
  const { agent } = await wake('Nia', asks, [approve]);
  const first = await runWith(agent, 'waiting_tool');
  const page = await openTab(t);
  await openRuns(page, `?agentId=${agent.id}`);
  const rows = all(page).getByRole('row');
  await rows.getByRole('button', { name: 'Stop' }).click();
  const stopped = rows.filter({ hasText: 'by a person' });
  await stopped.getByRole('button', { name: 'Retry' }).click();
  const link = stopped.getByRole('link', { name: 'New run' });
  const href = await link.getAttribute('href');
  assert.notEqual(href, `#/r/${first.id}`);
  await rows.filter({ hasText: 'repeats another run' }).waitFor();
});

test('the list follows what happens, and the newest run is on top', async (t) => {
  const { agent, space } = await wake('Liv', [answerRule('Hi.')]);
  await runWith(agent, 'completed');
  const page = await openTab(t);
  await openRuns(page, `?agentId=${agent.id}`);
  await all(page).getByText('Hello Liv').waitFor();
  await api.postMessage(space, husam, 'And once more');
  await all(page).getByRole('row').nth(1).getByText('And once more').waitFor();
});

test('a long list has more pages', async (t) => {
  const agent = await api.createAgent('Max', [answerRule('Hi.')]);
  const budget = { runsPerMinute: 1000 };
  await api.request('PATCH', `/v1/entities/${agent.id}`, { agent: { budget } });
  const settings = { maxChainDepth: 1, budget };
  const space = await api.createSpace('Space of Max', [husam, agent], settings);
  for (let n = 1; n <= 51; n += 1) await api.postMessage(space, husam, `Message ${n}`);
  const page = await openTab(t);
  await openRuns(page, `?agentId=${agent.id}`);
  const list = page.getByRole('region', { name: 'All runs, newest first' });
  await list.getByText('Message 51', { exact: true }).waitFor();
  await list.getByRole('button', { name: 'Show more' }).click();
  await list.getByText('Message 1', { exact: true }).waitFor();
});

test('a list that comes slowly follows what happens all the time', async (t) => {
  const { agent, space } = await wake('Sal', stays);
  await runWith(agent, 'completed');
  const page = await openTab(t);
  // Longer than the time between two loads of a list.
  await page.route(/\/v1\/runs\?/, (route) => delay(1500).then(() => route.continue()));
  await openRuns(page, `?agentId=${agent.id}`);
  const list = page.getByRole('region', { name: 'All runs, newest first' });
  await list.getByText('Hello Sal', { exact: true }).waitFor();
  let isPosting = true;
  const posts = (async () => {
    for (let n = 1; isPosting; n += 1) {
      await api.postMessage(space, husam, n === 1 ? 'First news' : `More news ${n}`);
      await delay(500);
    }
  })();
  try {
    await list.getByText('First news', { exact: true }).waitFor();
  } finally {
    isPosting = false;
    await posts;
  }
});

test('in a narrow window each run is a block, and nothing scrolls sideways', async (t) => {
  await wake('Pia', fails);
  const page = await openTab(t, { viewport: { width: 390, height: 844 } });
  await openRuns(page);
  await all(page).getByText('Hello Pia').waitFor();
  const widths = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.querySelector('.page-body').scrollWidth,
  ]);
  assert.ok(Math.max(...widths) <= 390, `${widths}`);
});
