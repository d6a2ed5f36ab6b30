// The forms of all spaces that wait for the caller, and the agents that a text would wake.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callRule, formTool } from '../api_client.js';
import { isAccessible } from './accessible.js';
import { openSpace, openTab, signInAs, waitUntilFocused, waitUntilLive } from './console_page.js';
import { api, husam, sarah } from './suite.js';

const needs = (page) => page.getByRole('navigation', { name: 'Needs you' });

/** A space in which an agent asks Sarah a question. */
async function asking(name, question) {
  const rule = callRule('approve', { title: question }, 'Thank you.');
  const tool = formTool('approve', {
    ui: 'form',
    answerBy: [sarah.id],
    resultSchema: { type: 'object', properties: { ok: { type: 'boolean', title: 'Approve' } } },
  });
  const agent = await api.createAgent('DeployBot', [rule], 0, [tool]);
  const space = await api.createSpace(name, [husam, sarah, agent]);
  await api.postMessage(space, husam, 'Deploy, please.');
  return space;
}

test('a form in another space is listed, leads to its card, and its answer ends it', async (t) => {
  await asking('Deployments', 'When may I deploy?');
  const other = await api.createSpace('Elsewhere', [husam, sarah]);
  const page = await openTab(t);
  await signInAs(page, sarah, `#/s/${other.id}`);
  await needs(page)
    .getByText(/^DeployBot asks in Deployments · \d+ min left/)
    .waitFor();
  await needs(page).getByRole('link', { name: 'When may I deploy?', exact: true }).click();
  const card = page.getByRole('group', { name: 'When may I deploy?' });
  // The first field of the form has the focus.
  await waitUntilFocused(card.getByRole('checkbox', { name: 'Approve' }));
  await needs(page).getByRole('link', { name: 'Open: When may I deploy?' }).click();
  await waitUntilFocused(card.getByRole('checkbox', { name: 'Approve' }));
  await page.keyboard.press('Space');
  await card.getByRole('button', { name: 'Send' }).click();
  await needs(page).waitFor({ state: 'detached' });
});

test('a form in the oldest of many spaces is listed, also after it was read', async (t) => {
  const space = await asking('The oldest', 'May I restart the oldest?');
  for (let count = 0; count < 25; count += 1)
    await api.createSpace(`Newer ${count}`, [husam, sarah]);
  const page = await openTab(t);
  await signInAs(page, sarah, `#/s/${space.id}`);
  await page.getByRole('group', { name: 'May I restart the oldest?' }).waitFor();
  await page.reload();
  await waitUntilLive(page);
  const line = { name: 'May I restart the oldest?', exact: true };
  await needs(page).getByRole('link', line).waitFor();
  const operator = await openTab(t);
  await openSpace(operator, 'Newer 3');
  await needs(operator).getByRole('link', line).waitFor();
});

test('a question with buttons is answered in the list, in the name of its card', async (t) => {
  const input = { message: 'Deploy v2.1?', options: ['Deploy', 'Wait'] };
  const tool = formTool('choose', { ui: 'buttons' });
  const agent = await api.createAgent('Asker', [callRule('choose', input, 'Thanks.')], 0, [tool]);
  const space = await api.createSpace('With buttons', [sarah, agent]);
  await api.postMessage(space, sarah, 'Deploy, please.');
  const other = await api.createSpace('Not there', [sarah]);
  const page = await openTab(t);
  await openSpace(page, 'Not there');
  const card = needs(page).getByRole('listitem').filter({ hasText: 'With buttons' });
  await card.getByText('Asker asks in With buttons').waitFor();
  // The composer of the open space writes as Sarah.
  await card.getByText('answers as Sarah', { exact: true }).waitFor();
  await card.getByRole('link', { name: 'Open: Deploy v2.1?' }).click();
  const inTimeline = page.getByRole('group', { name: 'Deploy v2.1?' });
  await inTimeline.getByText('answers as Sarah', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'as' }).selectOption('');
  await inTimeline.getByText('answers as the operator', { exact: true }).waitFor();
  await page.goBack();
  await card.getByText('answers as the operator', { exact: true }).waitFor();
  await isAccessible(page);
  await card.getByRole('button', { name: 'Deploy: Deploy v2.1?' }).click();
  await card.waitFor({ state: 'detached' });
  assert.match(page.url(), new RegExp(other.id));
  const { parts } = await api.waitForMessage(space, ({ parts }) => parts[0].output);
  assert.deepEqual(parts[0].output, { choice: 'Deploy' });
  assert.notEqual(parts[0].resolvedBy, sarah.id);
  await api.postMessage(space, sarah, 'Once more, please.');
  await page.getByRole('combobox', { name: 'as' }).selectOption('Sarah');
  await card.getByText('answers as Sarah', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'Wait: Deploy v2.1?' }).click();
  await card.waitFor({ state: 'detached' });
  const again = await api.waitForMessage(space, ({ seq, parts }) => seq > 3 && parts[0].output);
  assert.equal(again.parts[0].resolvedBy, sarah.id);
});

test('whoever may not answer a question has no buttons for it', async (t) => {
  const input = { message: 'Ship it?', options: ['Yes', 'No'] };
  const tool = formTool('choose', { ui: 'buttons', answerBy: [sarah.id] });
  const agent = await api.createAgent('Shipper', [callRule('choose', input, 'Ok.')], 0, [tool]);
  const space = await api.createSpace('For Sarah only', [husam, sarah, agent]);
  await api.postMessage(space, husam, 'Ship it, please.');
  const page = await openTab(t);
  await openSpace(page, 'For Sarah only');
  const card = needs(page).getByRole('listitem').filter({ hasText: 'For Sarah only' });
  const menu = page.getByRole('combobox', { name: 'as' });
  await menu.selectOption('Sarah');
  await card.getByText('answers as Sarah', { exact: true }).waitFor();
  await menu.selectOption('Husam');
  await card.getByText(/^answers as/).waitFor({ state: 'detached' });
  assert.equal(await card.getByRole('button').count(), 0);
  await card.getByRole('link', { name: 'Open: Ship it?' }).waitFor();
});

test('a form that others may answer is not listed', async (t) => {
  await asking('Not for Husam', 'May I restart?');
  const page = await openTab(t);
  await signInAs(page, husam);
  await openedBy(page, 'Not for Husam');
  await page.getByRole('group', { name: 'May I restart?' }).waitFor();
  assert.equal(await needs(page).count(), 0);
});

test('the composer names the agents that a text would wake, and why not others', async (t) => {
  const ana = await api.createAgent('Ana', []);
  const fay = await api.createAgent('Fay', []);
  const pax = await api.createAgent('Pax', []);
  await api.pause(pax);
  await api.createSpace('Previews', [husam, ana, fay, pax]);
  const page = await openTab(t);
  await openSpace(page, 'Previews');
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill('Hello');
  await page.getByText('asks Ana, Fay · not Pax (paused)').waitFor();
  await box.fill('');
  await page.getByText('Enter sends, Shift+Enter makes a new line').waitFor();
});

/** Opens a space of the list. */
async function openedBy(page, name) {
  await waitUntilLive(page);
  const spaces = page.getByRole('navigation', { name: 'Spaces', exact: true });
  await spaces.getByRole('link', { name }).click();
}
