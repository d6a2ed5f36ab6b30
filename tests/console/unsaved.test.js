// What was typed and is not saved is not lost: leaving it asks, and so does writing over others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule } from './api_client.js';
import { openTab, waitUntilLive } from './console_page.js';
import { api, product } from './suite.js';

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
    await page.keyboard.type('Usage');
    await page.keyboard.press('Enter');
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
  for (const template of ['Approver', 'Scripted', 'Router']) {
    await page.getByRole('radio', { name: template }).check();
    assert.equal(await name.inputValue(), 'Typed by hand');
  }
  assert.notEqual(await instructions.inputValue(), before);
});

test('two people who change the same field are told', async (t) => {
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
