// The page with the spaces on a phone: what runs, waits and fails, and what the day costs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule, callRule, formTool } from '../api_client.js';
import { isAccessible, isAccessibleAt } from './accessible.js';
import {
  openSpace,
  openTab,
  send,
  signInAs,
  tightTiles,
  waitUntilFocused,
  waitUntilLive,
} from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

const PHONE = { viewport: { width: 390, height: 844 } };

test('a first step leads to the message box of the open space', async (t) => {
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await page.getByRole('navigation', { name: 'Spaces' }).getByText('Welcome').click();
  await page.getByRole('heading', { name: 'Welcome', level: 1 }).waitFor();
  const hello = page.getByRole('link', { name: 'Say hello' });
  await hello.click();
  await waitUntilFocused(page.getByRole('textbox', { name: 'Message', exact: true }));
  await page.getByRole('heading', { name: 'Welcome', level: 1 }).waitFor();
});

test('the first steps are ticked by what exists, until all are done', async (t) => {
  const greeter = await api.createAgent('Greeter', [answerRule('Hello.')]);
  await api.createSpace('Beginning', [husam, greeter]);
  const page = await openTab(t);
  await openSpace(page, 'Beginning');
  const steps = page.getByRole('navigation', { name: /First steps/ });
  const count = (done) => steps.getByRole('heading', { name: `First steps · ${done} of 4` });
  // There are two people.
  await count(1).waitFor();
  await isAccessible(page);
  await send(page, 'Hello');
  await count(2).waitFor();
  // The newest answer of the open space is explained.
  await steps.getByRole('link', { name: 'See why an agent spoke or not' }).click();
  await page.getByRole('heading', { name: 'Why did Greeter speak?' }).waitFor();
  await count(3).waitFor();
  await steps.getByText('✓ See why an agent spoke or not').waitFor();
  // The agents that were made together are those of the demo.
  const list = '**/v1/entities?limit=200';
  const createdAt = new Date(Date.now() + 600_000).toISOString();
  await page.route(list, async (route) => {
    const answer = await (await route.fetch()).json();
    const own = { ...answer.items.at(-1), id: 'own', type: 'agent', createdAt };
    await route.fulfill({ json: { ...answer, items: [...answer.items, own] } });
  });
  await steps.getByRole('link', { name: 'Make your own agent' }).click();
  await steps.waitFor({ state: 'detached' });
});

test('the first steps are done in the open space, and lead to their very place', async (t) => {
  const silent = {
    steps: [{ calls: [{ tool: 'skip_response', input: { reason: 'Not mine.' } }] }],
  };
  const watcher = await api.createAgent('Watcher', [silent]);
  const mine = await api.createSpace('The open one', [husam, watcher]);
  const [newest] = (await api.spaces()).filter(({ name }) => name === 'Beginning');
  await api.postMessage(newest, husam, 'Something new.');
  const page = await openTab(t);
  await openSpace(page, 'The open one');
  const steps = page.getByRole('navigation', { name: /First steps/ });
  const step = (name) => steps.getByRole('link', { name });
  await page.route('**/v1/entities?limit=200', async (route) => {
    const answer = await (await route.fetch()).json();
    const people = answer.items.filter(({ type }) => type === 'human');
    await route.fulfill({ json: { ...answer, items: people.slice(0, 1) } });
  });
  await page.reload();
  await step('See why').click();
  await page.getByText(/^No agent has spoken in The open one yet\. Say hello/).waitFor();
  await step('Invite somebody').click();
  await waitUntilFocused(page.getByLabel('How many people'));
  assert.ok(page.url().endsWith(`#/s/${mine.id}/settings`));
  await page.getByRole('button', { name: 'Make an invite' }).click({ trial: true });
  await page.goBack();
  await page.getByRole('heading', { name: 'The open one', level: 1 }).waitFor();
  // The list of silent agents is an answer, too.
  await send(page, 'Anybody here?');
  await page.getByRole('button', { name: /^reasons/ }).click();
  await steps.getByText('✓ See why an agent spoke or not').waitFor();
});

test('the first steps can be hidden', async (t) => {
  const page = await openTab(t);
  await openSpace(page, 'Beginning');
  await page.getByRole('button', { name: 'Hide the first steps' }).click();
  const steps = page.getByRole('navigation', { name: /First steps/ });
  await steps.waitFor({ state: 'detached' });
  await page.reload();
  await waitUntilLive(page);
  // What loads with them is there.
  await page.getByRole('button', { name: 'Stop all and pause' }).waitFor();
  assert.equal(await steps.count(), 0);
});

test('the operator sees on a phone what waits and fails, and a bar of pages', async (t) => {
  const tool = formTool('ask', { ui: 'buttons' });
  const input = { message: 'Deploy v2.1?', options: ['Deploy', 'Wait'] };
  const bot = await api.createAgent('Bot', [callRule('ask', input, 'Thanks.')], 0, [tool]);
  const fay = await api.createAgent('Fay', [{ steps: [{ error: 'rate_limited' }] }]);
  const asked = await api.createSpace('Asked', [husam, bot]);
  await api.postMessage(asked, husam, 'Please deploy.');
  const failing = await api.createSpace('Failing', [sarah, fay]);
  const { dispatch } = await api.postMessage(failing, sarah, 'Anybody?');
  await api.waitForRun(dispatch[0].runId);
  const page = await openTab(t, PHONE);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  const glance = page.getByRole('list', { name: 'At a glance' });
  await glance.getByRole('link', { name: 'Waiting 1', exact: true }).waitFor();
  await glance.getByRole('link', { name: 'Failed, 24 h 1', exact: true }).waitFor();
  const cost = glance.getByRole('link', { name: /^Cost today \$/ });
  await cost.waitFor();
  assert.match(await cost.getAttribute('href'), /^#\/usage\?from=([\d-]+)&to=\1$/);
  assert.deepEqual(await tightTiles(glance), []);
  await page.getByRole('button', { name: 'Deploy: Deploy v2.1?' }).waitFor();
  await isAccessibleAt(page, PHONE.viewport);
  const bar = page.getByRole('navigation', { name: 'Build' });
  const { y, height } = await bar.boundingBox();
  assert.equal(Math.round(y + height), PHONE.viewport.height);
  await bar.getByRole('link', { name: 'Runs' }).click();
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
});

test('a person sees the spaces and what waits, and nothing of the runs of others', async (t) => {
  const page = await openTab(t, PHONE);
  await signInAs(page, sarah);
  await page.getByRole('link', { name: /^Failing/ }).waitFor();
  assert.equal(await page.getByRole('list', { name: 'At a glance' }).count(), 0);
});

const WITHOUT_END = { maxChainDepth: 100, maxAutoReplies: 100, gate: { mode: 'off' } };

/**
 * A space with two agents that answer each other without an end, beginning now. They write slowly,
 * so that they go on while a busy machine looks at them.
 */
async function looping(name) {
  const agents = [];
  for (const own of ['Ping', 'Pong']) {
    const step = { calls: [{ tool: 'send_message', input: { text: `${own} again.` } }] };
    const rules = [{ when: { trigger: 'space_message' }, steps: [step] }];
    agents.push(await api.createAgent(`${own} ${name}`, rules, 400, [], { maxChainDepth: 100 }));
  }
  const space = await api.createSpace(name, [husam, ...agents], WITHOUT_END);
  await api.postMessage(space, husam, 'Go.');
  return space;
}

test('a loop shows on every page of a wide window, and goes when it is stopped', async (t) => {
  const space = await looping('Debate');
  const page = await openTab(t);
  await openSpace(page, 'Beginning');
  const alarm = page.getByRole('region', { name: /answer each other$/ });
  await alarm.getByText(/^\d+ runs in a minute in Debate, \d+ answers in a row\.$/).waitFor();
  await isAccessible(page);
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
  await alarm.getByRole('link', { name: 'Look' }).click();
  await page.getByRole('heading', { name: 'Debate', level: 1 }).waitFor();
  await alarm.getByRole('button', { name: 'Stop all and pause Debate' }).click();
  await alarm.waitFor({ state: 'detached' });
  assert.equal((await api.space(space)).paused, true);
  const spaces = page.getByRole('navigation', { name: 'Spaces', exact: true });
  await spaces.getByRole('link', { name: /^Debate.*paused/ }).waitFor();
  // The runs of the last minute are no loop any longer when the space goes on.
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await page.getByRole('button', { name: 'Stop all and pause', exact: true }).waitFor();
  await waitUntilFocused(page.getByRole('textbox', { name: 'Message', exact: true }));
  assert.equal((await api.space(space)).paused, false);
  await spaces.getByText('paused', { exact: true }).waitFor({ state: 'detached' });
  assert.equal(await alarm.count(), 0);
});

test('a loop goes when somebody else stops its chain', async (t) => {
  const space = await looping('Dispute');
  const page = await openTab(t);
  await openSpace(page, 'Beginning');
  const alarm = page.getByRole('region', { name: /Dispute answer each other$/ });
  await alarm.waitFor();
  await api.request('POST', `/v1/spaces/${space.id}/messages/1/chain/cancel`);
  await alarm.waitFor({ state: 'detached' });
});
