// The composer completes the names of members.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSpace, openTab, storedEntry } from './console_page.js';
import { api, husam } from './suite.js';

test('a name is completed by keyboard or by mouse, and Enter sends after it', async (t) => {
  const agents = [await api.createAgent('Ana', []), await api.createAgent('Anabel', [])];
  await api.createSpace('Mentions', [husam, ...agents]);
  const page = await openTab(t);
  await openSpace(page, 'Mentions');
  const box = page.getByRole('textbox', { name: 'Message' });
  const list = page.getByRole('listbox', { name: 'Members to mention' });
  const selected = list.getByRole('option', { selected: true });

  await box.pressSequentially('Hello @an');
  await selected.filter({ hasText: /^Ana/ }).waitFor();
  assert.equal(await list.getByRole('option').count(), 2);
  await box.press('ArrowDown');
  await selected.filter({ hasText: /^Anabel/ }).waitFor();
  await box.press('Enter');
  assert.equal(await box.inputValue(), 'Hello @Anabel ');
  assert.equal(await list.count(), 0);

  await box.pressSequentially('and @h');
  await list.getByRole('option', { name: 'Husam' }).click();
  assert.equal(await box.inputValue(), 'Hello @Anabel and @Husam ');
  assert.ok(await box.evaluate((node) => node === document.activeElement));

  // Escape closes the list, and Enter sends what was typed.
  await box.pressSequentially('@an');
  await list.waitFor();
  await box.press('Escape');
  await list.waitFor({ state: 'detached' });
  await box.press('Enter');
  await storedEntry(page, 'Hello @Anabel and @Husam @an').waitFor();

  // A complete name needs no list.
  await box.pressSequentially('@Ana');
  await list.waitFor({ state: 'detached' });
  await box.press('Enter');
  await storedEntry(page, '@Ana').waitFor();
});
