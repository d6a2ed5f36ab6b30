// Forms that ask for files, against the real server, with the keyboard on a phone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callRule, formTool } from '../api_client.js';
import { isAccessible } from './accessible.js';
import { openPicker, openTab, signInAs, storedEntry, waitUntilLive } from './console_page.js';
import { textFile } from './file_bytes.js';
import { api, husam } from './suite.js';

const PHONE = { width: 390, height: 844 };
const PDF = {
  name: 'contract.pdf',
  mimeType: 'application/pdf',
  buffer: Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n'),
};
const SCHEMA = {
  type: 'object',
  properties: {
    contract: {
      type: 'string',
      format: 'attachment',
      contentTypes: ['application/pdf'],
      maxBytes: 100_000,
      title: 'The contract',
    },
  },
  required: ['contract'],
};

/** A form that waits for a PDF, in a tab of Husam. */
async function openForm(t, name, options) {
  const tool = formTool('ask', { ui: 'form', resultSchema: SCHEMA });
  const rule = callRule('ask', { title: 'Which contract?' }, 'Thank you.');
  const agent = await api.createAgent(`Clerk of ${name}`, [rule], 0, [tool]);
  const space = await api.createSpace(name, [husam, agent], { maxChainDepth: 1 });
  await api.postMessage(space, husam, 'Here I am.');
  const page = await openTab(t, { viewport: PHONE, ...options });
  await signInAs(page, husam, `#/s/${space.id}`);
  await waitUntilLive(page);
  const form = page.getByRole('group', { name: 'Which contract?' });
  await form.waitFor();
  return { page, space, form };
}

/** Opens the file picker with the keyboard and picks a file. */
async function pick(page, form, file) {
  await form.locator('input[type="file"]').focus();
  const picker = await openPicker(page, 'Space');
  await picker.setFiles([file]);
}

const ready = (form) => form.locator('.uploads li[data-status="ready"]');
const callIn = async (space) =>
  (await api.messages(space)).flatMap(({ parts }) => parts).find(({ callId }) => callId);

test('a PDF is picked, uploaded and answered with the keyboard on a phone', async (t) => {
  const { page, space, form } = await openForm(t, 'Contract');
  await pick(page, form, PDF);
  await ready(form).waitFor();
  await isAccessible(page, PHONE);
  await page.setViewportSize(PHONE);
  await form.getByRole('button', { name: 'Send', exact: true }).press('Enter');
  await storedEntry(page, 'Thank you.').waitFor();
  await page.locator('.asks').getByText('contract.pdf').first().waitFor();
  const { output, status } = await callIn(space);
  assert.equal(status, 'completed');
  assert.match(output.contract, /^att_/);
});

test('a file of another type is refused, and the form stays open', async (t) => {
  const { page, space, form } = await openForm(t, 'Wrong files', { expected: [/422/, /413/] });
  const input = form.locator('input[type="file"]');
  await input.setInputFiles(textFile('notes.txt'));
  await form.getByText('notes.txt does not fit: expected PDF.').waitFor();
  await input.setInputFiles({ ...PDF, name: 'big.pdf', buffer: Buffer.alloc(100_001) });
  await form.getByText(/^big\.pdf is too large/).waitFor();
  await form.getByRole('button', { name: 'Send', exact: true }).press('Enter');
  await form.getByText('This needs a file.').waitFor();
  await isAccessible(page, PHONE);
  // What only says that it is a PDF.
  await input.setInputFiles({ ...PDF, name: 'fake.pdf', buffer: Buffer.from('<!doctype html>') });
  await form.locator('.uploads li[data-status="failed"]').waitFor();
  assert.equal((await callIn(space)).status, 'pending');
  await input.setInputFiles(PDF);
  await ready(form).waitFor();
  await form.getByRole('button', { name: 'Send', exact: true }).press('Enter');
  await storedEntry(page, 'Thank you.').waitFor();
});
