// Agents, spaces and plans that files manage: what their pages say, and an agent as such a file.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { isAccessible } from './accessible.js';
import { openTab, signInAs, waitUntilLive } from './console_page.js';
import { api, product } from './suite.js';

const COMMIT = '4f2c9e1b8a7d6c5e4f3a2b1c0d9e8f7a6b5c4d3e';
const AT = 'at 4f2c9e1';

/** What the files of a project say of an agent with a plan, and of a space with an owner. */
function filesOf(name, instructions) {
  const key = name.toLowerCase();
  const file = (kind, externalId, spec) => {
    const path = `${kind}s/${externalId}.yaml`;
    return { kind, externalId, path, spec };
  };
  const model = { provider: 'scripted', name: 'demo' };
  const members = [{ id: key }, { id: `owner-of-${key}`, role: 'owner' }];
  const plan = { agent: key, name: 'Report', instruction: 'Report.', cron: '0 9 * * *' };
  return [
    file('agent', key, { name, instructions, model }),
    file('space', `${key}-desk`, { name: `Desk of ${name}`, members }),
    file('plan', `${key}-daily`, plan),
  ];
}

/** Applies these files. Resolves to the ids of the objects. */
async function applied(name, instructions = 'Be brief.') {
  const objects = filesOf(name, instructions);
  const body = { project: `support-${name}`, source: { commit: COMMIT }, objects };
  const { results } = await api.request('POST', '/v1/apply', body);
  const [agent, space] = results.map(({ id }) => id);
  return { agent, space };
}

async function openAsOperator(page, address) {
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/${address}`);
}

const line = (page, text) => page.locator('.managed').filter({ hasText: text });

test('the page of an agent names its file, and so does the plan', async (t) => {
  const { agent } = await applied('Mia');
  const page = await openTab(t);
  await openAsOperator(page, `#/a/${agent}/setup`);
  const ofAgent = line(page, `Managed by files: support-Mia, agents/mia.yaml ${AT}`);
  await ofAgent.getByText('the next apply refuses it').waitFor();
  // The answer to a change has it, too.
  await page.getByRole('button', { name: 'Pause Mia' }).click();
  await page.getByRole('button', { name: 'Resume Mia' }).waitFor();
  assert.equal(await ofAgent.count(), 1);
  await isAccessible(page);

  await page.getByRole('link', { name: 'Plans' }).click();
  const plan = page.getByRole('list', { name: 'Plans' }).getByRole('listitem');
  await line(plan, `Managed by files: support-Mia, plans/mia-daily.yaml ${AT}`).waitFor();
});

test('the settings of a space name its file, to owners without the commit', async (t) => {
  const { space } = await applied('Max');
  const words = 'Managed by files: support-Max, spaces/max-desk.yaml';
  const page = await openTab(t);
  await openAsOperator(page, `#/s/${space}/settings`);
  await line(page, `${words} ${AT}`).waitFor();
  await page.getByLabel('Paused').check();
  await page.getByRole('button', { name: 'Save settings' }).click();
  await api.waitFor(async () => (await api.space({ id: space })).paused);
  await line(page, `${words} ${AT}`).waitFor();

  const owner = await api.entityNamed('owner-of-max');
  // A page that is still open asks for the invites once more.
  const theirs = await openTab(t, { expected: [/403/] });
  await signInAs(theirs, owner, `#/s/${space}/settings`);
  await line(theirs, words).waitFor();
  assert.equal(await line(theirs, AT).count(), 0);

  await api.setRole({ id: space }, owner, 'member');
  await theirs.getByText('Owners of the space can change this.').waitFor();
  await theirs.reload();
  await theirs.getByText('Owners of the space can change this.').waitFor();
  assert.equal(await line(theirs, words).count(), 0);
});

test('a revision names the files that made it', async (t) => {
  const { agent } = await applied('Moe');
  await applied('Moe', 'Be polite.');
  const page = await openTab(t);
  await openAsOperator(page, `#/a/${agent}/revisions`);
  const rows = page.getByRole('list', { name: 'Revisions' }).getByRole('link');
  await rows.nth(1).waitFor();
  const from = `just now by the admin key, from files: support-Moe, agents/moe.yaml ${AT}`;
  assert.deepEqual(await rows.allTextContents(), [
    `Revision 2 changed instructions ${from}`,
    `Revision 1 created ${from}`,
  ]);
  const shown = page.getByRole('region', { name: 'Revision 2', exact: true });
  await shown.getByText(`from files: support-Moe, agents/moe.yaml ${AT}`).waitFor();
});

test('an exported agent is a file that changes nothing when it is applied', async (t) => {
  const managed = await applied('Mae');
  const model = { provider: 'scripted', name: 'demo', temperature: 0.5, fallback: [] };
  const loop = { remindUnsaid: false };
  const body = { type: 'agent', name: 'Mel & Co', agent: { model, loop, maxChainDepth: 5 } };
  const { id } = await api.request('POST', '/v1/entities', body);
  const page = await openTab(t);
  // Downloads the file of an agent.
  const exported = async (agentId) => {
    await openAsOperator(page, `#/a/${agentId}/setup`);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: /^Export/ }).click();
    const file = await download;
    const spec = JSON.parse(await readFile(await file.path(), 'utf8'));
    return { name: file.suggestedFilename(), spec };
  };

  const mae = await exported(managed.agent);
  const scripted = { provider: 'scripted', name: 'demo' };
  const expected = { name: 'Mae', instructions: 'Be brief.', model: scripted };
  assert.deepEqual(mae, { name: 'mae.json', spec: expected });
  const mel = await exported(id);
  assert.deepEqual(mel, {
    name: 'mel-co.json',
    spec: { id, name: 'Mel & Co', model: { ...scripted, temperature: 0.5 }, loop },
  });

  // They are taken as they are. The second one gets its external id by that.
  const tried = async (project, { name, spec: { id: known, ...spec } }) => {
    const externalId = name.replace('.json', '');
    const object = { kind: 'agent', externalId, ...(known && { id: known }), spec };
    const body = { project, objects: [object] };
    const { results } = await api.request('POST', '/v1/apply?dryRun=true', body);
    const [{ id: ofAgent, changes, drift, error }] = results;
    return [ofAgent, changes, drift, error];
  };
  assert.deepEqual(await tried('support-Mae', mae), [managed.agent, [], [], undefined]);
  assert.deepEqual(await tried('support-Mel', mel), [id, [], [], undefined]);
});
