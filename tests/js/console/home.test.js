// The page with the spaces on a phone: what runs, waits and fails, and what the day costs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule, callRule, formTool } from '../api_client.js';
import { isAccessible, isAccessibleAt } from './accessible.js';
import { openSpace, openTab, send, signInAs, tightTiles, waitUntilLive } from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

const PHONE = { viewport: { width: 390, height: 844 } };

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
  await page.getByRole('button', { name: 'Greeter spoke' }).click();
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
