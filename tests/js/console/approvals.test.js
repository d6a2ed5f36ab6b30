// Calls that wait for people, against the real server: decided in a room, in the inbox and for
// good; the rules of an agent; and the allowances of a space.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVERY_STEP, tokenOf } from '../api_client.js';
import { isAccessible } from './accessible.js';
import {
  leaveTheBox,
  openSpace,
  openTab,
  pressInTurn,
  signInAs,
  storedEntry,
  waitUntilLive,
} from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

const TRANSFER = {
  name: 'transfer',
  description: 'Transfers money.',
  inputSchema: {
    type: 'object',
    // The page leaves `not` to the server.
    properties: { amount: { type: 'integer', not: { const: 650 } }, to: { type: 'string' } },
    required: ['amount', 'to'],
  },
  execution: { type: 'compute', expression: 'string(input.amount) + " went to " + input.to' },
};
const RULE = { tools: ['transfer'], expiresAfter: '2 hours' };
const REFUSED = { expected: [/422/] };

/** A new space with two owners and an agent that transfers when somebody writes. */
async function makeRoom(name, { rules = [RULE], input = { amount: 900, to: 'Acme' } } = {}) {
  const result = { calls: [{ tool: 'send_message', input: { text: 'Result: {{result}}' } }] };
  const steps = [{ calls: [{ tool: 'transfer', input }] }, result];
  const script = { rules: [{ when: { sender: 'human' }, steps }] };
  const model = { provider: 'scripted', name: 'browser-tests', script };
  const agent = await api.request('POST', '/v1/entities', {
    type: 'agent',
    name: `Teller of ${name}`,
    agent: { model, tools: [TRANSFER], approvals: rules, ...EVERY_STEP },
  });
  const space = await api.createSpace(name, [husam, sarah, agent], { maxChainDepth: 1 });
  for (const person of [husam, sarah]) await api.setRole(space, person, 'owner');
  return { space, agent };
}

/** Asks for the call, and waits until it waits: `{runId, callId}`. */
async function askIn(space) {
  const { seq } = await api.postMessage(space, husam, 'Pay Acme.');
  const asked = await api.waitForMessage(space, (each) => each.seq > seq && each.parts[0].approval);
  return { runId: asked.runId, callId: asked.parts[0].callId };
}

const decide = (person, { runId, callId }, decision) =>
  api.request('POST', `/v1/runs/${runId}/toolCalls/${callId}/decision`, {
    senderId: person.id,
    ...decision,
  });

async function openAs(t, person, space, options) {
  const page = await openTab(t, options);
  await signInAs(page, person, `#/s/${space.id}`);
  await page.getByRole('heading', { name: space.name, exact: true }).waitFor();
  await waitUntilLive(page);
  return page;
}

/** Opens a page for operators. */
async function openPage(t, hash, options) {
  const page = await openTab(t, options);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/${hash}`);
  return page;
}

const button = (place, name) => place.getByRole('button', { name, exact: true });
const outcome = (page, text) => page.locator('.approval .outcome').getByText(text, { exact: true });

test('two owners approve a call in the room with the keyboard', async (t) => {
  const rules = [{ ...RULE, by: 'owners', quorum: 2 }];
  const { space } = await makeRoom('Two owners', { rules });
  await askIn(space);
  const [one, other] = [await openAs(t, husam, space), await openAs(t, sarah, space)];
  await button(one, 'Approve once').focus();
  await one.keyboard.press('Enter');
  await one.getByText('You have approved it.').waitFor();
  await other.getByText('1 of 2 approvals: Husam').waitFor();
  assert.equal(await other.locator('.always').count(), 0);
  await isAccessible(one);
  await button(other, 'Approve once').focus();
  await other.keyboard.press('Enter');
  for (const page of [one, other]) {
    await outcome(page, 'approved by Husam and Sarah').waitFor();
    await storedEntry(page, 'Result: 900 went to Acme').waitFor();
  }
  await isAccessible(other);
});

test('the operator decides in the name of the person whom it chooses in the room', async (t) => {
  const { space } = await makeRoom('By the operator', { rules: [{ ...RULE, quorum: 2 }] });
  await decide(husam, await askIn(space), { action: 'approve' });
  const page = await openTab(t);
  await openSpace(page, 'By the operator');
  await page.getByText('1 of 2 approvals: Husam, by the operator').waitFor();
  const menu = page.getByLabel('Decide as');
  await menu.selectOption('Choose a person');
  await button(page, 'End run').click();
  await page.getByText('Choose the person in whose name you decide.').waitFor();
  await menu.selectOption('Sarah');
  await isAccessible(page);
  await button(page, 'Approve once as Sarah').click();
  await outcome(page, 'approved by Husam and Sarah, by the operator').waitFor();
});

test('four keys approve a call from the inbox', async (t) => {
  const { space } = await makeRoom('From the inbox');
  await askIn(space);
  const person = await api.createPerson('Ines');
  await api.request('PUT', `/v1/spaces/${space.id}/members/${person.id}`, { role: 'member' });
  const page = await openTab(t);
  await page.goto(`${product.base}/#token=${tokenOf(person, product.jwtSecret)}`);
  await waitUntilLive(page);
  await page
    .getByRole('navigation', { name: 'Needs you' })
    .getByText(/wants to call/)
    .waitFor();
  await leaveTheBox(page);
  await pressInTurn(page, 'g', 'i');
  await page.getByRole('heading', { name: 'Needs you', level: 1 }).waitFor();
  await page.locator('.waiting').getByText('Acme').waitFor();
  await isAccessible(page);
  await page.keyboard.press('a');
  await page.getByText(/^Nothing waits for you/).waitFor();
  await api.waitForMessage(space, ({ parts }) => parts[0].text === 'Result: 900 went to Acme');
});

test('the operator approves in the list, in the name of a person who is chosen', async (t) => {
  const { space } = await makeRoom('In the list');
  await askIn(space);
  // The person who is chosen there counts for nothing here.
  await api.createSpace('Elsewhere', [await api.createPerson('Ella of Elsewhere')]);
  const page = await openTab(t);
  await openSpace(page, 'Elsewhere');
  const needs = page.getByRole('navigation', { name: 'Needs you' });
  const card = needs.getByRole('listitem').filter({ hasText: 'Teller of In the list asks in' });
  await card.getByText('{"amount":900,"to":"Acme"}').waitFor();
  await isAccessible(page);
  const approve = card.getByRole('button', { name: /^Approve/ });
  await approve.click();
  await card.getByText('Choose the person in whose name you decide.').waitFor();
  await card.getByLabel('as').selectOption('Sarah');
  await approve.click();
  const [{ decisions }] = await api
    .waitForMessage(space, ({ parts: [{ approval }] }) => approval?.decisions.length > 0)
    .then(({ parts }) => parts.map(({ approval }) => approval));
  assert.deepEqual(
    decisions.map(({ by, action, byOperator }) => [by, action, byOperator]),
    [[sarah.id, 'approve', true]],
  );
});

test('an edit that the server refuses says so at the field, and keeps what is typed', async (t) => {
  const { space } = await makeRoom('Edited');
  await askIn(space);
  const page = await openAs(t, husam, space, REFUSED);
  await button(page, 'Edit…').focus();
  await page.keyboard.press('Enter');
  const amount = page.getByLabel('amount');
  await amount.fill('650');
  await Promise.all([
    page.waitForResponse((response) => response.status() === 422),
    amount.press('Enter'),
  ]);
  await page.waitForFunction(() => document.activeElement?.ariaInvalid === 'true');
  assert.equal(await amount.inputValue(), '650');
  assert.match(await page.locator('.panel .field .problem').first().textContent(), /\w/);
  await isAccessible(page);
  await amount.fill('600');
  await amount.press('Enter');
  await outcome(page, 'approved by Husam, with another input').waitFor();
  await storedEntry(page, 'Result: 600 went to Acme').waitFor();
});

test('a call is answered, declined, or ends its run', async (t) => {
  const { space } = await makeRoom('No call');
  const page = await openAs(t, husam, space);
  await askIn(space);
  await button(page, 'Decline…').press('Enter');
  await page.keyboard.type('Too much.');
  await button(page, 'Decline').press('Enter');
  await outcome(page, 'declined by Husam: Too much.').waitFor();
  await askIn(space);
  await button(page, 'Respond…').press('Enter');
  await page.keyboard.type('Use cash.');
  await button(page, 'Respond').press('Enter');
  await outcome(page, 'answered by Husam: Use cash.').waitFor();
  await askIn(space);
  await button(page, 'End run').press('Enter');
  await outcome(page, 'Husam ended the run').waitFor();
});

test('an exact input is allowed for good, until the allowance is deleted', async (t) => {
  const { space } = await makeRoom('Always');
  await askIn(space);
  const page = await openAs(t, husam, space);
  await page.getByText('Approve, and always here…').press('Enter');
  await isAccessible(page);
  await button(page, 'Always for this exact input').press('Enter');
  await outcome(page, 'approved by Husam').waitFor();
  const results = page.locator('.entry').getByText('Result: 900 went to Acme', { exact: true });
  await results.nth(0).waitFor();
  await api.postMessage(space, husam, 'And again.');
  await results.nth(1).waitFor();
  const [, second] = await api.runs(space);
  assert.ok(second);
  assert.equal((await api.request('GET', '/v1/inbox')).items.filter(isIn(space)).length, 0);

  await page.goto(`${product.base}/#/s/${space.id}/settings`);
  const table = page.getByRole('table', { name: 'Allowances' });
  await table.getByText('input == {"amount": 900, "to": "Acme"}').waitFor();
  await isAccessible(page);
  page.once('dialog', (dialog) => dialog.accept());
  await table.getByRole('button', { name: /^Delete the allowance for/ }).press('Enter');
  await page.getByText('There are no allowances here.').waitFor();
  await askIn(space);
});

const isIn =
  ({ id }) =>
  ({ spaceId }) =>
    spaceId === id;

test('hidden and long texts of an input show whole, and nothing scrolls sideways', async (t) => {
  const to = `\u202eemcA\u200b ${'x'.repeat(300)} ${'A long note. '.repeat(200)}`;
  const { space } = await makeRoom('Long input', { input: { amount: 900, to } });
  await askIn(space);
  const page = await openAs(t, husam, space);
  await page
    .locator('.approval-input')
    .getByText(/U\+202EemcAU\+200B/)
    .waitFor();
  await isAccessible(page);
  // The names of the fields stay in one line.
  await page.setViewportSize({ width: 390, height: 844 });
  const name = page.locator('.approval-input').getByRole('rowheader', { name: 'amount' });
  assert.ok((await name.boundingBox()).height < 30);
});

test('Setup adds a rule, says what is wrong with it, and tests a call', async (t) => {
  const { agent } = await makeRoom('Rules', { rules: [] });
  const page = await openPage(t, `#/a/${agent.id}/setup`, REFUSED);
  const rules = page.getByRole('form', { name: 'Approvals', exact: true });
  await button(rules, 'Add a rule').press('Enter');
  await button(rules, 'Save rules').press('Enter');
  await rules.getByText('expected 1 to 20 names or patterns').waitFor();
  await isAccessible(page);
  await rules.getByLabel('Tools').fill('trans*');
  await rules.getByLabel('Only when (CEL)').fill('double(input.amount) > 500.0');
  await rules.getByLabel('Who decides').fill('owners');
  await rules.getByLabel('Approvals needed').fill('2');
  await button(rules, 'Save rules').press('Enter');
  await rules.getByText('Saved', { exact: true }).waitFor();
  const { approvals } = (await api.entity(agent.id)).agent;
  assert.deepEqual(
    approvals.map(({ tools, by, quorum }) => [tools, by, quorum]),
    [[['trans*'], 'owners', 2]],
  );
  const trial = page.getByRole('form', { name: 'Test the approvals' });
  await trial.getByLabel('Tool', { exact: true }).fill('transfer');
  for (const [amount, words] of [
    [900, 'Rule 1 asks owners: 2 must approve.'],
    [100, 'No rule fits: it is made.'],
  ]) {
    await trial.getByLabel('Input').fill(JSON.stringify({ amount, to: 'Acme' }));
    await button(trial, 'See which rule holds').press('Enter');
    await trial.getByText(words).waitFor();
  }
  await isAccessible(page);
});
