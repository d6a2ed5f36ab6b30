// The people: adding, renaming, spaces, retiring; and new ones in the dialog "New space".

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab, send, storedEntry, waitUntilLive } from './console_page.js';
import { api, product } from './suite.js';

async function openPeople(t, options) {
  const page = await openTab(t, options);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/people`);
  await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
  return page;
}

const row = (page, name) =>
  page
    .getByRole('table', { name: 'People' })
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name, exact: true }) });

test('a person is added, with an error beside the field', async (t) => {
  const page = await openPeople(t, { expected: [/422/] });
  const form = page.getByRole('form', { name: 'Add a person' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Nora');
  await form.getByRole('textbox', { name: 'External id' }).fill('ent_nora');
  await form.getByRole('button', { name: 'Add the person' }).click();
  await form.getByText('Nothing was saved.').waitFor();
  const field = form.getByRole('textbox', { name: 'External id' });
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  await field.fill('nora@example.com');
  await form.getByRole('button', { name: 'Add the person' }).click();
  await row(page, 'Nora').getByRole('cell', { name: 'nora@example.com' }).waitFor();
  await row(page, 'Nora').getByRole('cell', { name: 'none' }).waitFor();
});

test('a person is renamed, put into a space and removed from it', async (t) => {
  const lina = await api.createPerson('Lina');
  const space = await api.createSpace('Choir', []);
  const page = await openPeople(t);
  page.on('dialog', (dialog) => dialog.accept());
  await row(page, 'Lina').getByRole('button', { name: 'Edit Lina' }).click();
  const edit = page.getByRole('group', { name: 'Edit Lina' });
  await edit.getByRole('combobox', { name: 'Put into a space' }).selectOption('Choir');
  await edit.getByRole('button', { name: 'Add' }).click();
  await row(page, 'Lina').getByRole('link', { name: 'Choir' }).waitFor();
  await edit.getByRole('button', { name: 'Remove Lina from Choir' }).click();
  await row(page, 'Lina').getByRole('cell', { name: 'none' }).waitFor();
  assert.deepEqual((await api.space(space)).members, []);
  await edit.getByRole('textbox', { name: 'New name' }).fill('Lina M.');
  await edit.getByRole('button', { name: 'Save' }).click();
  await row(page, 'Lina M.').waitFor();
  assert.equal((await api.entity(lina.id)).name, 'Lina M.');
});

test('a long list of people is filtered by name', async (t) => {
  const page = await openTab(t);
  const person = (_, n) => ({ id: `ent_${n}`, type: 'human', name: `Person ${n}` });
  const items = Array.from({ length: 21 }, person);
  await page.route('**/v1/entities?limit=200', (route) =>
    route.fulfill({ json: { items, nextCursor: null } }),
  );
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/people`);
  await page.getByRole('searchbox', { name: 'Filter by name' }).fill('son 7');
  await page.getByText('1 of 21', { exact: true }).waitFor();
  const names = page.getByRole('table', { name: 'People' }).getByRole('rowheader');
  assert.deepEqual(await names.allInnerTexts(), ['Person 7']);
});

test('a person is retired after a question', async (t) => {
  const omar = await api.createPerson('Omar');
  const page = await openPeople(t);
  const questions = [];
  page.once('dialog', (dialog) => dialog.dismiss());
  await row(page, 'Omar').getByRole('button', { name: 'Edit Omar' }).click();
  await page.getByRole('button', { name: 'Retire Omar…' }).click();
  assert.equal((await api.entity(omar.id)).name, 'Omar');
  page.once('dialog', (dialog) => {
    questions.push(dialog.message());
    return dialog.accept();
  });
  await page.getByRole('button', { name: 'Retire Omar…' }).click();
  await row(page, 'Omar').waitFor({ state: 'detached' });
  assert.match(questions[0], /Their messages stay/);
  await assert.rejects(api.entity(omar.id), /404/);
});

test('a space with a new person and a new agent is made in one dialog', async (t) => {
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.getByRole('button', { name: 'New space' }).click();
  const dialog = page.getByRole('dialog', { name: 'New space' });
  await dialog.getByLabel('Name').fill('From nothing');
  const person = dialog.getByRole('textbox', { name: 'New person' });
  await person.fill('Ida');
  await person.press('Enter');
  await dialog.getByRole('checkbox', { name: 'Ida' }).waitFor();
  await person.fill('Nobody');
  await dialog.getByRole('button', { name: 'Add person' }).click();
  const nobody = dialog.getByRole('checkbox', { name: 'Nobody' });
  await nobody.click();
  await nobody.waitFor({ state: 'detached' });
  // Typed text counts, too.
  await dialog.getByRole('textbox', { name: 'New agent' }).fill('Echo');
  await dialog.getByRole('button', { name: 'Create space' }).click();
  await page.getByRole('heading', { name: 'From nothing' }).waitFor();
  await send(page, 'Is this on?');
  await storedEntry(page, 'Is this on?').waitFor();
  await page.getByText('Hello Ida! You wrote: Is this on?').waitFor();
  const list = page.getByRole('list', { name: 'Members' }).getByRole('listitem');
  assert.equal(await list.count(), 2);
});

test('the dialog shows errors beside the field, and keeps what was made', async (t) => {
  const page = await openTab(t, { expected: [/422/] });
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.getByRole('button', { name: 'New space' }).click();
  const dialog = page.getByRole('dialog', { name: 'New space' });
  await dialog.getByLabel('Name').fill('   ');
  await dialog.getByRole('textbox', { name: 'New person' }).fill('Made once');
  await dialog.getByRole('button', { name: 'Create space' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'expected' }).waitFor();
  assert.equal(await dialog.getByLabel('Name').getAttribute('aria-invalid'), 'true');
  assert.ok(await dialog.getByRole('checkbox', { name: 'Made once' }).isChecked());
  await dialog.getByLabel('Name').fill('Second try');
  await dialog.getByRole('button', { name: 'Create space' }).click();
  await page.getByRole('heading', { name: 'Second try' }).waitFor();
  await page.goto(`${product.base}/#/people`);
  await row(page, 'Made once').getByRole('link', { name: 'Second try' }).waitFor();
  assert.equal(await row(page, 'Made once').count(), 1);
});
