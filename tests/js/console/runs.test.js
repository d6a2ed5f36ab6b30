// The page of runs: its tiles and filters, the runs that need a person, chains, stopping and
// repeating.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { answerRule, callRule, formTool } from '../api_client.js';
import { openTab, tightTiles, waitUntilLive } from './console_page.js';
import { api, husam, product } from './suite.js';

const fails = [{ steps: [{ error: 'bad_request' }] }];
const stays = [
  { steps: [{ calls: [{ tool: 'skip_response', input: { reason: 'Ana knows better.' } }] }] },
];
const asks = [callRule('approve', {}, 'Thank you.')];
const approve = formTool('approve', { ui: 'form', resultSchema: { type: 'string' } });

const all = (page) => page.getByRole('table', { name: 'Runs', exact: true });
const tile = (page, name) =>
  page.getByRole('list', { name: 'At a glance' }).getByRole('link', { name });
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

  const waiting = all(page).getByRole('row', { name: /Wren/ });
  await waiting.getByRole('link', { name: 'Waiting', exact: true }).waitFor();
  const failed = all(page).getByRole('row', { name: /Fay/ });
  await failed.getByText(/^bad_request: /).waitFor();
  await failed.getByText('Hello Fay').waitFor();
  const silent = all(page).getByRole('row', { name: /Silent.*Quinn/ });
  await silent.getByText('“Ana knows better.”').waitFor();
  const states = await all(page).locator('tbody th').allInnerTexts();
  assert.deepEqual(states, ['Waiting', 'Failed', 'Silent']);

  // The tiles count them, and are filters.
  await tile(page, /^Running 0 nothing at work$/).waitFor();
  await tile(page, /^Waiting 1 for people · oldest/).waitFor();
  await tile(page, /^Cost today \$0\.\d+ nothing in the 7 days before$/).waitFor();
  await tile(page, /^Failed, 24 h 1 bad request · Fay$/).click();
  await page.waitForURL('**/#/runs?status=failed');
  await waiting.waitFor({ state: 'detached' });
  await tile(page, /^Failed/).click();
  await page.waitForURL('**/#/runs');

  // The card that a run waits with is one press away.
  await waiting.getByRole('link', { name: 'Answer Wren in Space of Wren' }).click();
  await page.waitForURL(`**/#/s/${wren.space.id}/m/2`);
  await page.goBack();

  const place = silent.getByRole('link', { name: 'Space of Quinn' });
  assert.equal(await place.getAttribute('href'), `#/s/${quinn.space.id}/m/1`);
  const run = await runWith(quinn.agent, 'completed');
  await silent.getByRole('link', { name: 'Silent' }).click();
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
  await page.goBack();
  await all(page).getByRole('row', { name: /Ida/ }).waitFor();

  await page.getByRole('link', { name: 'Show all' }).click();
  await page.waitForURL('**/#/runs');
  await filter(page, 'Since').selectOption('Last hour');
  await tile(page, /^Failed, 1 h/).waitFor();
  await filter(page, 'Space').selectOption({ label: 'Space of Jo' });
  await all(page).getByRole('row', { name: /Jo/ }).waitFor();
  await page.reload();
  await all(page).getByRole('row', { name: /Jo/ }).waitFor();
  assert.equal(await filter(page, 'Since').inputValue(), 'hour');
});

test('a run is stopped, and then repeated', async (t) => {
  const { agent } = await wake('Nia', asks, [approve]);
  const first = await runWith(agent, 'waiting_tool');
  const page = await openTab(t);
  await openRuns(page, `?agentId=${agent.id}`);
  const rows = all(page).getByRole('row');
  await rows.getByRole('button', { name: 'Stop Nia in Space of Nia' }).click();
  const stopped = rows.filter({ hasText: 'by a person' });
  await stopped.getByRole('button', { name: 'Retry Nia in Space of Nia' }).click();
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
  for (let n = 1; n <= 101; n += 1) await api.postMessage(space, husam, `Message ${n}`);
  // While runs end, the list is loaded again and again.
  await api.waitFor(async () => (await api.runs(space)).every(({ finishedAt }) => finishedAt));
  const page = await openTab(t);
  await openRuns(page, `?agentId=${agent.id}`);
  await all(page).getByText('Message 101').waitFor();
  // Until the texts are there, the rows move.
  await all(page)
    .getByText(/Message 2(?!\d)/)
    .waitFor();
  // The rows move while their texts come. During a load the button takes no key.
  await page.getByRole('button', { name: 'Show more', disabled: false }).press('Enter');
  await all(page)
    .getByText(/Message 1(?!\d)/)
    .waitFor();
});

test('a list that comes slowly follows what happens all the time', async (t) => {
  const { agent, space } = await wake('Sal', stays);
  await runWith(agent, 'completed');
  const page = await openTab(t);
  // Longer than the time between two loads of a list.
  await page.route(/\/v1\/runs\?/, (route) => delay(1500).then(() => route.continue()));
  await openRuns(page, `?agentId=${agent.id}`);
  await all(page).getByText('Hello Sal').waitFor();
  let isPosting = true;
  const posts = (async () => {
    for (let n = 1; isPosting; n += 1) {
      await api.postMessage(space, husam, n === 1 ? 'First news' : `More news ${n}`);
      await delay(500);
    }
  })();
  try {
    await all(page).getByText('First news').waitFor();
  } finally {
    isPosting = false;
    await posts;
  }
});

/** Two agents that answer each other until the chain is this deep, and a slow last one. */
async function loop(depth) {
  const say = (text) => [{ steps: [{ calls: [{ tool: 'send_message', input: { text } }] }] }];
  const budget = { runsPerMinute: 1000 };
  const ping = await api.createAgent('Ping', say('Your turn, Pong.'), 0, [], { budget });
  const pong = await api.createAgent('Pong', say('Your turn, Ping.'), 0, [], { budget });
  const settings = { maxChainDepth: depth, budget };
  const space = await api.createSpace('Debate', [husam, ping, pong], settings);
  await api.postMessage(space, husam, 'Tabs or spaces?');
  await api.waitFor(async () => (await api.runs(space)).length >= 2 * depth);
  await api.waitFor(async () => (await api.runs(space)).every(({ finishedAt }) => finishedAt));
  return space;
}

test('a loop is one row, which opens and says how deep it is', async (t) => {
  const space = await loop(4);
  const page = await openTab(t);
  await openRuns(page, `?spaceId=${space.id}`);
  const row = all(page).getByRole('row', {
    name: /8 runs in one chain, 4 of at most 4 answers in a row/,
  });
  await row.filter({ hasText: 'Husam: Tabs or spaces? → “Your turn, P' }).waitFor();
  await row.filter({ hasText: '8 spoke' }).waitFor();
  await row.filter({ hasText: /Ping ⇄ Pong|Pong ⇄ Ping/ }).waitFor();
  assert.equal(await all(page).locator('tbody tr').count(), 1);
  await row.getByRole('button', { name: /8 runs/, expanded: false }).click();
  assert.equal(await all(page).locator('tbody tr').count(), 9);
  await all(page).getByRole('row').filter({ hasText: 'after 3 answers in a row' }).nth(1).waitFor();

  await filter(page, 'Group by').selectOption({ label: 'Each run' });
  await page.waitForURL(/group=run$/);
  await page.waitForFunction(() => document.querySelectorAll('.runs tbody tr').length === 8);
});

test('the table is sorted by cost', async (t) => {
  const cheap = await wake('Cia', stays);
  const dear = await wake('Dee', [answerRule('A long answer. '.repeat(200))]);
  await Promise.all([runWith(cheap.agent, 'completed'), runWith(dear.agent, 'completed')]);
  await api.postMessage(cheap.space, husam, 'Again');
  const page = await openTab(t);
  await openRuns(page, '?sort=cost');
  const costs = async () => {
    const texts = await all(page).locator('tbody .cost').allInnerTexts();
    return texts.map((text) => Number(text.replace(/[^\d.e-]/g, '')) || 0);
  };
  await all(page).getByRole('row', { name: /Dee/ }).waitFor();
  const shown = await costs();
  assert.deepEqual(
    shown,
    [...shown].sort((one, other) => other - one),
  );
  await filter(page, 'Sort by').selectOption({ label: 'Newest first' });
  await page.waitForURL('**/#/runs?sort=time');
  await all(page).locator('tbody tr').first().filter({ hasText: 'Cia' }).waitFor();
});

test('in a narrow window each run is a block, and nothing scrolls sideways', async (t) => {
  await wake('Pia', fails);
  const slow = await api.createAgent('Rue', [answerRule('word '.repeat(400))], 200);
  const space = await api.createSpace('Space of Rue', [husam, slow], { maxChainDepth: 1 });
  await api.postMessage(space, husam, 'Hello Rue');
  const page = await openTab(t, { viewport: { width: 390, height: 844 } });
  await openRuns(page);
  await all(page).getByText('Hello Pia').waitFor();
  // What runs now is in sight.
  const first = all(page).locator('tbody tr').first();
  await first.getByText('Running').waitFor();
  const { y } = await first.getByRole('button', { name: 'Stop Rue in Space of Rue' }).boundingBox();
  assert.ok(y <= 300, `the button is ${y} px from the top`);
  assert.deepEqual(await tightTiles(page.getByRole('list', { name: 'At a glance' })), []);
  const widths = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.querySelector('.page-body').scrollWidth,
  ]);
  assert.ok(Math.max(...widths) <= 390, `${widths}`);
});
