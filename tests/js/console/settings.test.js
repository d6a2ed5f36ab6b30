// The settings of a space: how it works, its members, its invites, and its end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab, signInAs, waitForBriefText, waitUntilLive } from './console_page.js';
import { answerRule } from '../api_client.js';
import { api, husam, product, sarah } from './suite.js';

const part = (page, name) => page.getByRole('region', { name, exact: true });
const members = (page) => page.getByRole('table', { name: 'Members' });
const member = (page, name) => members(page).getByRole('row').filter({ hasText: name });

async function openSettings(page, space) {
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/s/${space.id}/settings`);
  await page.getByRole('heading', { name: `Settings of ${space.name}` }).waitFor();
}

const save = async (page) => {
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
};

test('the operator changes how a space works', async (t) => {
  const ana = await api.createAgent('Ana', [answerRule('Hello.')]);
  const space = await api.createSpace('Kitchen', [husam, ana]);
  const page = await openTab(t);
  await openSettings(page, space);
  await part(page, 'How it works').getByText('Used today (UTC): 0 tokens').waitFor();
  assert.ok(await page.getByRole('radio', { name: 'Everyone is asked' }).isChecked());

  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Big kitchen');
  await page.getByRole('radio', { name: 'Only agents that are named' }).check();
  await page.getByRole('spinbutton', { name: 'How many answers may follow' }).fill('2');
  await page.getByRole('checkbox', { name: 'Paused' }).check();
  await page.getByRole('spinbutton', { name: 'Tokens per day' }).fill('5000');
  await save(page);
  await page.getByRole('heading', { name: 'Settings of Big kitchen' }).waitFor();
  await page.getByText('of 5,000').waitFor();
  const changed = await api.space(space);
  assert.equal(changed.name, 'Big kitchen');
  assert.equal(changed.triggerPolicy, 'mention');
  assert.equal(changed.maxChainDepth, 2);
  assert.equal(changed.paused, true);
  assert.deepEqual(changed.budget, { tokensPerDay: 5000, costPerDay: null, runsPerMinute: 120 });

  // An empty field removes the limit.
  await page.getByRole('spinbutton', { name: 'Tokens per day' }).fill('');
  await page.getByRole('radio', { name: 'Only the admin agent' }).check();
  await page.getByRole('combobox', { name: 'Admin agent' }).selectOption('Ana');
  await save(page);
  const after = await api.space(space);
  assert.equal(after.adminAgentId, ana.id);
  assert.equal(after.triggerPolicy, 'admin');
  assert.equal(after.budget.tokensPerDay, null);
  assert.equal(after.name, 'Big kitchen');
});

test('a router is set, and an error shows at its field', async (t) => {
  const space = await api.createSpace('Routed', [husam]);
  const page = await openTab(t, { expected: [/422/] });
  await openSettings(page, space);
  await page.getByRole('radio', { name: 'A router chooses' }).check();
  await page.getByRole('combobox', { name: 'Provider of the router' }).selectOption('openai');
  await page.getByRole('textbox', { name: 'Model of the router' }).fill('a-model');
  await page.getByRole('textbox', { name: 'Instructions for the router' }).fill('Be brief.');
  const cost = page.getByRole('spinbutton', { name: 'Dollars per day' });
  await cost.fill('1e12');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Nothing was saved. See the marked fields.').waitFor();
  assert.equal(await cost.getAttribute('aria-invalid'), 'true');
  assert.equal(await cost.inputValue(), '1e12');

  await cost.fill('');
  await save(page);
  const { triggerPolicy, router } = await api.space(space);
  assert.equal(triggerPolicy, 'router');
  assert.equal(router.model.provider, 'openai');
  assert.equal(router.instructions, 'Be brief.');
});

test('an owner sets which agents answer, and sees what each dial would have done', async (t) => {
  const settings = { triggerPolicy: 'router' };
  const space = await api.createSpace('Scored', [sarah], settings);
  await api.setRole(space, sarah, 'owner');
  const page = await openTab(t);
  const dials = ['quiet', 'balanced', 'lively'].map((dial) => ({ dial, wakes: 452, answers: 219 }));
  const report = { messages: 412, fromSeq: 88, toSeq: 561, dials };
  await page.route(`**/v1/spaces/${space.id}/gate`, (route) =>
    route.fulfill({ json: { ...report, now: { wakes: 1236, answers: 231 } } }),
  );
  await signInAs(page, sarah, `#/s/${space.id}/settings`);
  const answers = part(page, 'Who answers');
  await answers.getByText('of the last 412 messages with scores').waitFor();
  const counts = 'It would have kept 219 of 231 answers with 452 instead of 1,236 runs.';
  assert.equal(await answers.getByText(counts).count(), 3);
  const replies = answers.getByRole('spinbutton', { name: 'How often may an agent answer' });
  assert.equal(await replies.getAttribute('max'), '3');

  await answers.getByRole('radio', { name: 'It only notes what it would decide' }).check();
  // The arrow keys move between the dials.
  await answers.getByRole('radio', { name: 'Balanced' }).focus();
  await page.keyboard.press('ArrowDown');
  assert.ok(await answers.getByRole('radio', { name: 'Lively' }).isChecked());
  await answers.getByRole('radio', { name: 'The agent that its sender talks with' }).check();
  await answers.getByRole('checkbox', { name: 'Do not leave questions to silence' }).uncheck();
  await replies.fill('1');
  await save(page);
  const { triggerPolicy, gate, answerQuestions, maxAutoReplies } = await api.space(space);
  assert.deepEqual(
    { triggerPolicy, gate, answerQuestions, maxAutoReplies },
    {
      triggerPolicy: 'partner',
      gate: { mode: 'shadow', dial: 'lively' },
      answerQuestions: false,
      maxAutoReplies: 1,
    },
  );
});

test('the report of a space without scores says so', async (t) => {
  const space = await api.createSpace('Unscored', [husam], { gate: { mode: 'shadow' } });
  const page = await openTab(t);
  await openSettings(page, space);
  await part(page, 'Who answers').getByText('No message has scores yet.').waitFor();
});

test('members are added, get a role, and are removed', async (t) => {
  const space = await api.createSpace('Staff', [husam]);
  const page = await openTab(t);
  page.on('dialog', (dialog) => dialog.accept());
  await openSettings(page, space);
  const form = page.getByRole('form', { name: 'Add a member' });
  await form.getByRole('combobox', { name: 'Person or agent' }).selectOption('Sarah');
  await form.getByRole('combobox', { name: 'Role' }).selectOption('owner');
  await form.getByRole('button', { name: 'Add to the space' }).click();
  const role = page.getByRole('combobox', { name: 'Role of Sarah' });
  await role.waitFor();
  assert.equal(await role.inputValue(), 'owner');

  await page.getByRole('combobox', { name: 'Role of Husam' }).selectOption('owner');
  await page.waitForFunction(
    async ([path, key]) => {
      const headers = { authorization: `Bearer ${key}` };
      const { members } = await (await fetch(path, { headers })).json();
      return members.every(({ role }) => role === 'owner');
    },
    [`/v1/spaces/${space.id}`, product.adminKey],
  );
  await page.getByRole('button', { name: 'Remove Husam' }).click();
  await member(page, 'Husam').waitFor({ state: 'detached' });
  assert.deepEqual(
    (await api.space(space)).members.map(({ name }) => name),
    ['Sarah'],
  );
});

test('an owner adds people they know, and leaves', async (t) => {
  const known = await api.createPerson('Known to Sarah');
  await api.createPerson('A stranger');
  await api.createSpace('Shared', [sarah, known]);
  const space = await api.createSpace('Owned', [sarah, husam]);
  await api.setRole(space, sarah, 'owner');
  const page = await openTab(t, { expected: [/403/] });
  page.on('dialog', (dialog) => dialog.accept());
  await signInAs(page, sarah, `#/s/${space.id}/settings`);
  const choice = page.getByRole('combobox', { name: 'Person or agent' });
  await choice.selectOption('Known to Sarah');
  assert.equal(await choice.locator('option', { hasText: 'A stranger' }).count(), 0);
  assert.equal(await page.getByText('Used today').count(), 0);
  await page.getByRole('button', { name: 'Add to the space' }).click();
  await member(page, 'Known to Sarah').waitFor();
  await member(page, 'Sarah (you)').getByRole('button', { name: 'Leave the space' }).click();
  await page.waitForURL((url) => !url.hash.includes(space.id));
  assert.ok(!(await api.space(space)).members.some(({ id }) => id === sarah.id));
});

test('an owner does not see what only the operator sets, and reads why not', async (t) => {
  const space = await api.createSpace('Limited', [sarah]);
  await api.setRole(space, sarah, 'owner');
  const page = await openTab(t, { expected: [/403/] });
  const detail = 'budget.tokensPerDay: only the operator can set more than 100 here';
  await page.route(`**/v1/spaces/${space.id}`, (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 403, json: { status: 403, detail } })
      : route.continue(),
  );
  await signInAs(page, sarah, `#/s/${space.id}/settings`);
  await page.getByRole('radio', { name: 'A router chooses' }).check();
  const instructions = page.getByRole('textbox', { name: 'Instructions for the router' });
  assert.equal(await instructions.getAttribute('maxlength'), '2000');
  assert.equal(await page.getByRole('combobox', { name: 'Provider of the router' }).count(), 0);
  assert.equal(await page.getByRole('textbox', { name: 'Model of the router' }).count(), 0);
  await page.getByText('Its model is the router model of this deployment.').waitFor();
  const most = (name) => page.getByRole('spinbutton', { name }).getAttribute('max');
  assert.equal(await most('How many answers may follow each other?'), '5');
  assert.equal(await most('Runs per minute'), '120');
  const tokens = page.getByRole('spinbutton', { name: 'Tokens per day' });
  await tokens.fill('1000');
  await page.getByRole('button', { name: 'Save settings' }).click();
  // Below its field.
  const words = 'only the operator can set more than 100 here';
  await page.locator('.field', { has: tokens }).getByText(words, { exact: true }).waitFor();
  assert.equal(await tokens.getAttribute('aria-invalid'), 'true');
});

test('a member reads the settings, changes nothing, and can leave', async (t) => {
  const space = await api.createSpace('Read only', [husam, sarah], { maxChainDepth: 3 });
  const page = await openTab(t);
  await signInAs(page, husam, `#/s/${space.id}/settings`);
  await part(page, 'How it works').getByText('Everyone is asked').waitFor();
  await part(page, 'How it works').getByText('It decides (balanced)').waitFor();
  await part(page, 'How it works').getByText('Not left to silence').waitFor();
  assert.equal(await part(page, 'How it works').getByText('a minute').count(), 0);
  for (const name of ['Save settings', 'Remove Sarah', 'Add to the space', 'Make an invite'])
    assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  await member(page, 'Husam (you)').getByRole('button', { name: 'Leave the space' }).waitFor();
});

test('an invite shows its address once, and is revoked', async (t) => {
  const space = await api.createSpace('Open house', [husam]);
  const page = await openTab(t);
  page.on('dialog', (dialog) => dialog.accept());
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await openSettings(page, space);
  await page.getByText('There are no open invites.').waitFor();
  await page.getByRole('spinbutton', { name: 'How many people' }).fill('3');
  await page.getByRole('combobox', { name: 'Ends after' }).selectOption('1 day');
  await page.getByRole('button', { name: 'Make an invite' }).click();
  const address = page.getByRole('textbox', { name: 'Address of the new invite' });
  const url = await address.inputValue();
  assert.ok(url.startsWith(`${product.base}/#invite=invite_`), url);
  const copy = page.getByRole('button', { name: 'Copy the address' });
  await waitForBriefText(page, 'button', 'Copied', () => copy.click());
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), url);
  const row = page.getByRole('table', { name: 'Open invites' }).getByRole('row').nth(1);
  await row.getByRole('cell', { name: '3', exact: true }).waitFor();
  await row.getByRole('cell', { name: 'the operator' }).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await address.waitFor({ state: 'detached' });
  await row.getByRole('button', { name: /^Revoke/ }).click();
  await page.getByText('There are no open invites.').waitFor();
});

test('an invite whose maker is no owner any longer shows as ended', async (t) => {
  const space = await api.createSpace('Closing house', [husam, sarah]);
  await api.setRole(space, husam, 'owner');
  await api.createInviteAs(husam, space);
  await api.setRole(space, husam, 'member');
  const page = await openTab(t);
  await openSettings(page, space);
  const row = page.getByRole('table', { name: 'Open invites' }).getByRole('row').nth(1);
  await row.getByRole('cell', { name: 'ended: its maker is no longer an owner' }).waitFor();
});

test('a space is deleted after its name is typed', async (t) => {
  const space = await api.createSpace('To be deleted', [husam]);
  const page = await openTab(t, { expected: [/404/] });
  await openSettings(page, space);
  await page.getByRole('button', { name: 'Delete the space…' }).click();
  const button = page.getByRole('button', { name: 'Delete for good' });
  const field = page.getByRole('textbox', { name: 'Type To be deleted to confirm' });
  await field.fill('To be');
  assert.ok(await button.isDisabled());
  await field.fill('To be deleted');
  await button.click();
  await page.waitForURL((url) => !url.hash.includes(space.id));
  await page.getByRole('link', { name: 'To be deleted' }).waitFor({ state: 'detached' });
  await assert.rejects(api.space(space), /404/);
});
