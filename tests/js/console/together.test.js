// Two people and an operator at the same time, each in a browser of their own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule, callRule, formTool } from '../api_client.js';
import { openSpace, openTab, send, signInAs, storedEntry } from './console_page.js';
import { api, husam, sarah } from './suite.js';

const heading = (page, name) => page.getByRole('heading', { level: 1, name });
const pill = (page, name) => page.getByRole('button', { name });

test('two people and an operator see the same, and each does what they may', async (t) => {
  const question = { message: 'May I deploy?', options: ['Yes', 'No'] };
  const asks = callRule('approve', question, 'Deployed.');
  const tool = formTool('approve', { ui: 'buttons', answerBy: [sarah.id] });
  const bot = await api.createAgent('DeployBot', [asks], 0, [tool]);
  const ana = await api.createAgent('Ana', [answerRule('I will watch the dashboard.')]);
  const once = { maxChainDepth: 1 };
  const space = await api.createSpace('Three of us', [husam, sarah, bot, ana], once);
  const pages = [];
  for (const person of [husam, sarah]) {
    const page = await openTab(t);
    await signInAs(page, person, `#/s/${space.id}`);
    await heading(page, 'Three of us').waitFor();
    pages.push(page);
  }
  const [his, hers] = pages;
  const operators = await openTab(t);
  await openSpace(operators, 'Three of us');
  const all = [his, hers, operators];

  await send(his, 'Please deploy.');
  for (const page of all) {
    await storedEntry(page, 'I will watch the dashboard.').waitFor();
    await pill(page, 'DeployBot waiting for an answer').waitFor();
  }
  // Only Sarah may answer.
  const needs = (page) => page.getByRole('navigation', { name: 'Needs you' });
  await needs(hers).getByRole('link', { name: 'May I deploy?', exact: true }).waitFor();
  assert.equal(await needs(his).count(), 0);
  await his.getByText('Only Sarah may answer this.').waitFor();
  await hers.getByRole('button', { name: 'Yes', exact: true }).click();
  for (const page of all) {
    await page.getByText('answered by Sarah').waitFor();
    await storedEntry(page, 'Deployed.').waitFor();
    await pill(page, 'DeployBot spoke').waitFor();
    await pill(page, 'Ana spoke').waitFor();
  }
  assert.equal(
    await his.getByRole('list', { name: 'What the agents did' }).first().ariaSnapshot(),
    await hers.getByRole('list', { name: 'What the agents did' }).first().ariaSnapshot(),
  );

  // The operator pauses an agent; a person learns it before the next message.
  await operators.getByRole('link', { name: 'Agents' }).click();
  const row = operators.getByRole('row', { name: /^Ana / }).last();
  await row.getByRole('button', { name: /^Pause/ }).click();
  await row.getByRole('button', { name: /^Resume/ }).waitFor();
  await his.getByRole('textbox', { name: 'Message' }).fill('Once more?');
  await his.getByText('asks DeployBot · not Ana (paused)').waitFor();
});
