// The revisions of an agent: the list, one of them beside it, and the way back to it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab, pressInTurn, waitUntilFocused, waitUntilLive } from './console_page.js';
import { api, husam, product } from './suite.js';

const says = [{ steps: [{ text: 'Done.' }] }];
const HIDING = 'Pay\u202e nobody';

const region = (page, name) => page.getByRole('region', { name, exact: true });
const rows = (page) => page.getByRole('list', { name: 'Revisions' }).getByRole('link');
const current = (page) => page.locator('.revisions [aria-current]');
const hash = (page) => page.evaluate(() => location.hash);

/** The texts of a table, by rows. */
async function cells(page, label) {
  const table = page.getByRole('table', { name: label });
  await table.waitFor();
  return table
    .locator('tbody tr')
    .evaluateAll((found) =>
      found.map((row) => [...row.children].map((cell) => cell.textContent).join(' | ')),
    );
}

/** Opens the tab of the agent. `confirmed` gets the questions, which are answered with yes. */
async function openRevisions(page, agent, more = '', confirmed = []) {
  page.on('dialog', (dialog) => {
    confirmed.push(dialog.message());
    return dialog.accept();
  });
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/a/${agent.id}/revisions${more}`);
}

/** An agent with three revisions. */
async function changedAgent(name) {
  const agent = await api.createAgent(name, says);
  await api.change(agent.id, { agent: { instructions: 'Be brief.' } });
  const model = { name: 'another-model' };
  await api.change(agent.id, { name: `${name} B`, agent: { instructions: HIDING, model } });
  return agent;
}

test('the list says what was changed, and the chosen revision how', async (t) => {
  const agent = await changedAgent('Rae');
  const page = await openTab(t);
  await openRevisions(page, agent);
  await rows(page).first().waitFor();
  assert.deepEqual(await rows(page).allTextContents(), [
    'Revision 3 changed name, instructions, model / name just now by the admin key',
    'Revision 2 changed instructions just now by the admin key',
    'Revision 1 created just now by the admin key',
  ]);
  // The newest one is shown until another one is chosen. What hides in a text shows.
  assert.deepEqual(await cells(page, 'What it changed'), [
    'name | Rae | Rae B',
    'instructions | Be brief. | PayU+202E nobody',
    'model / name | browser-tests | another-model',
  ]);
  await page.getByText('This is the agent as it is now.').waitFor();

  await rows(page).nth(1).click();
  await page.getByRole('heading', { name: 'Revision 2' }).waitFor();
  assert.deepEqual(await cells(page, 'What it changed'), ['instructions | empty | Be brief.']);
  assert.deepEqual(await cells(page, 'Then and now'), [
    'name | Rae | Rae B',
    'instructions | Be brief. | PayU+202E nobody',
    'model / name | browser-tests | another-model',
  ]);
  assert.equal(await hash(page), `#/a/${agent.id}/revisions?revision=2`);
  await page.goBack();
  await page.getByRole('heading', { name: 'Revision 3' }).waitFor();
});

test('a revision is restored, and the page shows the agent that it makes', async (t) => {
  const agent = await changedAgent('Roy');
  const page = await openTab(t);
  const confirmed = [];
  await openRevisions(page, agent, '?revision=2', confirmed);
  await page.getByRole('heading', { name: 'Roy B', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Restore revision 2' }).click();
  await page.getByRole('heading', { name: 'Roy', exact: true, level: 1 }).waitFor();
  await page.getByRole('status').getByText('Revision 2 is restored.').waitFor();
  await page.getByRole('heading', { name: 'Revision 4' }).waitFor();
  assert.match(await rows(page).first().textContent(), /^Revision 4 restored 2 /);
  assert.match(confirmed.join(), /^Restore revision 2 in place of revision 3\?/);
  const { name, revision, agent: config } = await api.entity(agent.id);
  assert.deepEqual([name, revision, config.instructions], ['Roy', 4, 'Be brief.']);

  // What it restored differs in nothing now, so there is nothing to restore.
  await rows(page).nth(2).click();
  await page.getByText('The agent is the same now.').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Restore/ }).count(), 0);
});

test('a restore that the server refuses changes nothing', async (t) => {
  const agent = await changedAgent('Ron');
  const space = await api.createSpace('Two of a name', [husam, agent]);
  const other = await api.createAgent('Ron', says);
  await api.request('PUT', `/v1/spaces/${space.id}/members/${other.id}`, {});
  const page = await openTab(t, { expected: [/409/] });
  await openRevisions(page, agent, '?revision=1');
  await page.getByRole('button', { name: 'Restore revision 1' }).click();
  await page.locator('#notice').filter({ hasText: /name/ }).waitFor();
  assert.equal(await rows(page).count(), 3);
});

test('j and k go through the list, and Enter opens', async (t) => {
  const agent = await changedAgent('Rex');
  const page = await openTab(t);
  await openRevisions(page, agent);
  await rows(page).nth(2).waitFor();
  await waitUntilFocused(page.getByRole('heading', { level: 1 }));
  await page.keyboard.press('j');
  await waitUntilFocused(rows(page).nth(0));
  await pressInTurn(page, 'j', 'j', 'j');
  await waitUntilFocused(rows(page).nth(2));
  await page.keyboard.press('k');
  await waitUntilFocused(rows(page).nth(1));
  await page.getByRole('heading', { name: 'Revision 3' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Revision 2' }).waitFor();
  assert.match(await current(page).textContent(), /^Revision 2/);
  await waitUntilFocused(rows(page).nth(1));
});

test('the list and the agent follow changes of the agent', async (t) => {
  const agent = await api.createAgent('Ros', says);
  const page = await openTab(t);
  await openRevisions(page, agent);
  await page.getByText('Nothing was changed since then.').waitFor();
  await page.getByRole('button', { name: 'Pause Ros' }).click();
  await rows(page).nth(1).waitFor();
  assert.match(await rows(page).first().textContent(), /^Revision 2 changed paused/);

  // Another person changes it, and the tab is opened again.
  await api.change(agent.id, { name: 'Ros B' });
  await page.getByRole('link', { name: 'Memory' }).click();
  await page.getByText('The agent remembers nothing yet.').waitFor();
  await page.getByRole('link', { name: 'Revisions' }).click();
  await page.getByRole('heading', { name: 'Ros B', level: 1 }).waitFor();

  await page.goto(`${product.base}/#/a/${agent.id}/revisions?revision=9`);
  await page.getByText('Revision 9 is not kept.').waitFor();
});

test('a run links the revision that it ran with', async (t) => {
  const agent = await changedAgent('Ria');
  const space = await api.createSpace('Revised', [husam, agent]);
  const { dispatch } = await api.postMessage(space, husam, 'Hello');
  const { runId } = dispatch.find(({ agentId }) => agentId === agent.id);
  await api.waitForRun(runId);
  await api.change(agent.id, { agent: { instructions: 'Later.' } });
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/r/${runId}`);
  await page.getByRole('link', { name: 'Revision 3' }).click();
  await page.getByRole('heading', { name: 'Revision 3' }).waitFor();
  assert.equal(await hash(page), `#/a/${agent.id}/revisions?revision=3`);
});

test('on a phone a long value scrolls in itself, below the list', async (t) => {
  const agent = await api.createAgent('Rob', says);
  const instructions = `${'x'.repeat(500)}\n${'A line of it.\n'.repeat(200)}`;
  await api.change(agent.id, { agent: { instructions } });
  const page = await openTab(t, { viewport: { width: 360, height: 740 } });
  await openRevisions(page, agent, '?revision=1');
  const now = page.getByRole('table', { name: 'Then and now' }).locator('pre');
  await now.waitFor();
  assert.match(await now.textContent(), /A line of it\.\n$/);
  const sizes = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.querySelector('.page-body');
    return [document.scrollingElement.scrollWidth, scrollWidth - clientWidth];
  });
  assert.deepEqual(sizes, [360, 0]);
  const [list, shown] = await Promise.all(
    [region(page, 'Revisions'), region(page, 'Revision 1')].map((each) => each.boundingBox()),
  );
  assert.ok(list.y + list.height <= shown.y);
  const { height, inner } = await now.evaluate((node) => ({
    height: node.clientHeight,
    inner: node.scrollHeight,
  }));
  assert.ok(inner > height);
});
