// Typed text that is not saved is not lost: the page asks before it is left, and before a save
// writes over changes of others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule } from '../api_client.js';
import { openTab, signInAs, waitUntilLive } from './console_page.js';
import { api, husam, product } from './suite.js';

const form = (page) => page.getByRole('form', { name: 'Configuration', exact: true });
const field = (page, name) => form(page).getByRole('textbox', { name, exact: true });
const save = (page) => form(page).getByRole('button', { name: 'Save', exact: true }).click();
const isSaved = (page) => form(page).getByRole('status').filter({ hasText: 'Saved' }).waitFor();

async function openAgent(t, agent) {
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/a/${agent.id}/setup`);
  await field(page, 'Instructions').waitFor();
  return page;
}

/** Answers the next question of the page with yes or no, and returns its text. */
const answered = (page, isYes) =>
  new Promise((resolve) =>
    page.once('dialog', async (dialog) => {
      const text = dialog.message();
      await (isYes ? dialog.accept() : dialog.dismiss());
      resolve(text);
    }),
  );

test('a page with unsaved text is left only after a question', async (t) => {
  const agent = await api.createAgent('Una unsaved', [answerRule('Yes')]);
  const page = await openAgent(t, agent);
  const link = page.getByRole('navigation', { name: 'Build' }).getByRole('link', { name: 'Runs' });
  const here = page.url();
  await field(page, 'Instructions').fill('Be brief.');

  const stays = async (act) => {
    const question = answered(page, false);
    await act();
    assert.match(await question, /without saving/);
    await page.waitForURL(here);
    assert.equal(await field(page, 'Instructions').inputValue(), 'Be brief.');
  };
  await stays(() => link.click());
  await stays(() => page.evaluate(() => history.back()));
  await stays(() => page.getByRole('link', { name: 'Memory', exact: true }).click());
  await stays(async () => {
    await page.keyboard.press('Control+k');
    // Keys before the dialog is open would go to the page.
    const name = page.getByRole('combobox', { name: 'Name of a space or page' });
    await name.fill('Usage');
    await name.press('Enter');
  });

  await save(page);
  await isSaved(page);
  // A question would keep the page, because nobody answers it.
  await link.click();
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
});

test('unsaved text is given up with one answer', async (t) => {
  const agent = await api.createAgent('Greta gives up', [answerRule('Yes')]);
  const page = await openAgent(t, agent);
  await field(page, 'Instructions').fill('Never mind.');
  const question = answered(page, true);
  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  await question;
  await page.getByRole('heading', { name: 'Built-in tools' }).waitFor();
  await page.getByRole('link', { name: 'Setup', exact: true }).click();
  await field(page, 'Instructions').waitFor();
  assert.equal(await field(page, 'Instructions').inputValue(), '');
});

test('another template keeps what was typed', async (t) => {
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/agents/new`);
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  const instructions = page.getByRole('textbox', { name: 'Instructions' });
  await name.fill('Typed by hand');
  const before = await instructions.inputValue();
  for (const template of ['Approver', 'Scripted', 'Dispatcher']) {
    await page.getByRole('radio', { name: template }).check();
    assert.equal(await name.inputValue(), 'Typed by hand');
  }
  assert.notEqual(await instructions.inputValue(), before);
});

test('two people who change the same field see the conflict', async (t) => {
  const agent = await api.createAgent('Tess in two tabs', [answerRule('Yes')]);
  const [one, other] = [await openAgent(t, agent), await openAgent(t, agent)];
  await field(one, 'Instructions').fill('From the first tab.');
  await save(one);
  await isSaved(one);

  // Another field is nobody's business.
  await field(other, 'Description').fill('It has two authors.');
  await save(other);
  await isSaved(other);
  assert.equal((await api.entity(agent.id)).agent.instructions, 'From the first tab.');

  await field(one, 'Description').fill('It has one author.');
  await save(one);
  const alert = form(one).getByRole('alert');
  await alert.filter({ hasText: 'somebody else has changed the marked fields' }).waitFor();
  await form(one).getByText('Somebody else has changed it to “It has two authors.”').waitFor();
  assert.equal(await field(one, 'Description').inputValue(), 'It has one author.');
  assert.equal((await api.entity(agent.id)).agent.description, 'It has two authors.');
  await save(one);
  await isSaved(one);
  assert.equal((await api.entity(agent.id)).agent.description, 'It has one author.');
});

test('text typed while a save is under way stays, and is unsaved', async (t) => {
  const agent = await api.createAgent('Slow Sam', [answerRule('Yes')]);
  const page = await openAgent(t, agent);
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route('**/v1/entities/*', async (route) => {
    if (route.request().method() === 'PATCH') await released;
    await route.continue();
  });
  await field(page, 'Instructions').fill('First');
  const asked = page.waitForRequest((request) => request.method() === 'PATCH');
  await save(page);
  await asked;
  await field(page, 'Instructions').fill('First and second');
  await field(page, 'Description').fill('Typed meanwhile');
  release();
  await isSaved(page);
  assert.equal(await field(page, 'Instructions').inputValue(), 'First and second');
  assert.equal(await field(page, 'Description').inputValue(), 'Typed meanwhile');
  const question = answered(page, false);
  await page.getByRole('link', { name: 'Memory', exact: true }).click();
  assert.match(await question, /without saving/);
  await save(page);
  await api.waitFor(
    async () => (await api.entity(agent.id)).agent.description === 'Typed meanwhile',
  );
  assert.equal((await api.entity(agent.id)).agent.instructions, 'First and second');
});

test('line breaks of other systems are no unsaved text', async (t) => {
  const agent = await api.createAgent('Carla of two lines', [answerRule('Yes')]);
  await api.change(agent.id, { agent: { instructions: 'one\r\ntwo', description: 'one\ntwo' } });
  const page = await openAgent(t, agent);
  await page.getByRole('link', { name: 'Memory', exact: true }).click();
  await page.getByRole('heading', { name: 'Carla of two lines' }).waitFor();
  await page.waitForURL(/memory$/);
});

test('a tool is changed beside what others do to the list', async (t) => {
  const tool = (name, description = 'A tool.') => ({
    name,
    description,
    inputSchema: { type: 'object' },
    execution: { type: 'static', output: 1 },
  });
  const agent = await api.createAgent('Tom of tools', [answerRule('Yes')]);
  const store = (...tools) => api.change(agent.id, { agent: { tools } });
  const stored = async () =>
    (await api.entity(agent.id)).agent.tools.map(({ name, description }) => [name, description]);
  await store(tool('aa'), tool('bb'));
  const page = await openAgent(t, agent);
  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  const press = (name) => page.getByRole('button', { name, exact: true }).click();
  const json = page.getByRole('textbox', { name: 'Tool as JSON' });

  await press('Edit bb');
  await json.fill(JSON.stringify(tool('bb', 'Mine.')));
  const question = answered(page, false);
  await press('Edit aa');
  assert.match(await question, /without saving/);
  // Another one is added, and the first one goes.
  await store(tool('bb'), tool('cc'));
  await press('Save tool');
  await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
  assert.deepEqual(await stored(), [
    ['bb', 'Mine.'],
    ['cc', 'A tool.'],
  ]);

  await press('Edit bb');
  await json.fill(JSON.stringify(tool('bb', 'Mine again.')));
  await store(tool('bb', 'Theirs.'), tool('cc'), tool('dd'));
  await press('Save tool');
  await page.getByRole('alert').filter({ hasText: 'Theirs.' }).waitFor();
  assert.equal((await stored())[0][1], 'Theirs.');
  await press('Save tool');
  await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
  assert.deepEqual(await stored(), [
    ['bb', 'Mine again.'],
    ['cc', 'A tool.'],
    ['dd', 'A tool.'],
  ]);

  await store(tool('bb'), tool('cc'), tool('dd'), tool('ee'));
  page.once('dialog', (dialog) => dialog.accept());
  await press('Remove cc');
  await page.getByRole('status').filter({ hasText: 'Removed' }).waitFor();
  assert.deepEqual(
    (await stored()).map(([name]) => name),
    ['bb', 'dd', 'ee'],
  );
});

test('a saved value is not written over later changes of others', async (t) => {
  const pam = await api.createPerson('Pam before');
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/people`);
  await page.getByRole('button', { name: 'Edit Pam before' }).click();
  const form = page.getByRole('form', { name: 'Name and external id' });
  const name = form.getByRole('textbox', { name: 'New name' });
  const press = () => form.getByRole('button', { name: 'Save' }).click();
  const saved = () => form.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
  await name.fill('Pam saved');
  await press();
  await saved();
  await api.change(pam.id, { name: 'Pam of others' });
  await form.getByRole('textbox', { name: 'External id' }).fill('pam-1');
  await press();
  await saved();
  assert.equal((await api.entity(pam.id)).name, 'Pam of others');

  await page.waitForFunction(() =>
    [...document.querySelectorAll('input')].some(({ value }) => value === 'Pam of others'),
  );
  await name.fill('Pam mine');
  await api.change(pam.id, { name: 'Pam theirs' });
  await press();
  await form.getByText('Somebody else has changed it to “Pam theirs”.').waitFor();
  await press();
  await saved();
  assert.equal((await api.entity(pam.id)).name, 'Pam mine');
});

test('a refused step back leaves the history as it was', async (t) => {
  const agent = await api.createAgent('Hilda of history', [answerRule('Yes')]);
  const page = await openAgent(t, agent);
  const setup = page.url();
  await page.goto(`${product.base}/#/usage`);
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
  await page.goto(setup);
  await field(page, 'Instructions').fill('Be brief.');
  for (const act of [
    () => page.evaluate(() => history.back()),
    () =>
      page.getByRole('navigation', { name: 'Build' }).getByRole('link', { name: 'Runs' }).click(),
  ]) {
    const question = answered(page, false);
    await act();
    await question;
    await page.waitForURL(setup);
  }
  await save(page);
  await isSaved(page);
  await page.goBack();
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
});

test('a refused link gives back the key that was accepted last', async (t) => {
  const page = await openTab(t, { expected: [/status of 401/] });
  page.on('dialog', (dialog) => dialog.accept());
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  const refused = async (link) => {
    await page.goto(`${product.base}/${link}`);
    await page.getByRole('alert').filter({ hasText: 'does not accept' }).waitFor();
    await page.getByRole('button', { name: 'Stay signed in as before' }).click();
    await waitUntilLive(page);
  };
  await refused('#key=wrong');
  await page.getByText('Signed in as the operator').waitFor();
  await signInAs(page, husam);
  await page.getByText('Signed in as Husam').waitFor();
  await refused('#key=wrong-again');
  await page.getByText('Signed in as Husam').waitFor();
});
