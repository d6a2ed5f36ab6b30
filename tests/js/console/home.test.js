// The page with the spaces on a phone: what runs, waits and fails, and what the day costs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callRule, formTool } from '../api_client.js';
import { isAccessibleAt } from './accessible.js';
import { openTab, signInAs, waitUntilLive } from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

const PHONE = { viewport: { width: 390, height: 844 } };

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
  await glance.getByRole('link', { name: /^Cost today \$/ }).waitFor();
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
