// Forking a run in its drawer: what the agent would have done, beside what it did.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule } from '../api_client.js';
import { openSpace, openTab, waitUntilFocused } from './console_page.js';
import { api, husam } from './suite.js';

const drawer = (page) => page.getByRole('complementary', { name: /^Why/ });
const fork = (page) => drawer(page).getByRole('region', { name: 'Try it again' });
const side = (page, name) => fork(page).getByRole('region', { name, exact: true });

const isInView = (locator) =>
  locator.evaluate((node) => {
    const { top, bottom, left } = node.getBoundingClientRect();
    const isUncovered = node.contains(document.elementFromPoint(left + 2, top + 2));
    return isUncovered && top >= 0 && bottom <= innerHeight;
  });

/** Opens the drawer of a run of this agent. */
async function opened(t, name) {
  const agent = await api.createAgent('Ana', [answerRule('It is blue.')]);
  const space = await api.createSpace(name, [husam, agent]);
  await api.postMessage(space, husam, 'What color is it?');
  const page = await openTab(t);
  await openSpace(page, name);
  await page.getByRole('button', { name: 'Ana spoke' }).click();
  await fork(page).waitFor();
  return { page, agent, space };
}

test('a fork with other instructions is shown beside the run and can be stored', async (t) => {
  const { page, agent, space } = await opened(t, 'Forked');
  await fork(page).getByRole('textbox', { name: 'Instructions' }).fill('Be brief.');
  await fork(page).getByRole('button', { name: 'Fork here' }).click();
  await side(page, 'Then').getByText('It is blue.').waitFor();
  await side(page, 'Now').getByText('It is blue.').waitFor();
  // The outcome is where one looks, and where a screen reader goes on.
  const outcome = fork(page).getByRole('heading', { name: 'Dry run from step 1' });
  await waitUntilFocused(outcome);
  assert.equal(await isInView(outcome), true);
  assert.equal(await isInView(side(page, 'Now')), true);
  await fork(page).getByRole('button', { name: 'Keep for this agent' }).click();
  await fork(page).getByRole('button', { name: 'Kept' }).waitFor();
  assert.equal((await api.entity(agent.id)).agent.instructions, 'Be brief.');
  // Nothing in the space has changed.
  assert.equal((await api.messages(space)).length, 2);
});

test('a fork from a later step compares that step; unchanged it stores nothing', async (t) => {
  const { page } = await opened(t, 'Forked later');
  await fork(page).getByRole('combobox', { name: 'From step' }).selectOption('2');
  await fork(page).getByRole('button', { name: 'Fork here' }).click();
  await side(page, 'Now').getByText('nothing').waitFor();
  assert.equal(await side(page, 'Then').getByText('It is blue.').count(), 0);
  assert.equal(await fork(page).getByRole('button', { name: /Keep/ }).count(), 0);
});

test('a model that is none is said at once, and one that fails is shown as failed', async (t) => {
  const { page } = await opened(t, 'Forked badly');
  const model = fork(page).getByRole('textbox', { name: 'Model' });
  await model.fill('gpt');
  await fork(page).getByRole('button', { name: 'Fork here' }).click();
  await fork(page).getByRole('alert').filter({ hasText: 'Write provider/model' }).waitFor();
  await model.fill('openai/none');
  await fork(page).getByRole('button', { name: 'Fork here' }).click();
  await fork(page).getByRole('alert').filter({ hasText: 'OPENAI_API_KEY' }).waitFor();
});
