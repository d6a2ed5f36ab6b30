// A remote agent: it is made from a template, answers from its own program, and its runs say so.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { ApiClient } from '../api_client.js';
import { openTab, send, storedEntry, waitUntilLive } from './console_page.js';
import { startProduct } from '../product.js';
import './suite.js'; // Starts the browser.

const SECRET = `whsec_${Buffer.from('the console tests sign with this').toString('base64')}`;

let program; // What the remote agents run.
let remote; // A product that may call it.
let api;
let omar;

before(async () => {
  program = await startProgram();
  remote = await startProduct({
    environment: {
      SMARTSPACE_SECRET_REMOTE_AGENT: SECRET,
      SMARTSPACE_TOOL_HOSTS: new URL(program.url).host,
    },
  });
  api = new ApiClient(remote);
  omar = await api.createPerson('Omar');
});
after(async () => {
  await remote?.stop();
  program?.close();
});

/** A program that posts an answer and reports what it used. It refuses what is sent to `/gone`. */
async function startProgram() {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    response.writeHead(request.url === '/gone' ? 410 : 202).end();
    if (request.url === '/gone') return;
    const { callbacks } = JSON.parse(text);
    const call = (url, body, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${callbacks.token}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify(body),
      });
    await call(callbacks.messages, { text: 'From elsewhere.' }, { 'idempotency-key': 'answer' });
    const usage = { inputTokens: 1200, outputTokens: 80, cost: 0.02 };
    await call(callbacks.complete, { status: 'completed', usage });
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, close: () => server.close() };
}

async function openPage(t, hash, options) {
  const page = await openTab(t, options);
  await page.goto(`${remote.base}/#key=${remote.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${remote.base}/${hash}`);
  return page;
}

const form = (page, name) => page.getByRole('form', { name, exact: true });
const part = (page, name) => page.getByRole('main').getByRole('region', { name, exact: true });
const press = (place, name) => place.getByRole('button', { name, exact: true }).click();

const createRemote = (name, url) =>
  api.request('POST', '/v1/entities', {
    type: 'agent',
    name,
    agent: {
      runtime: { type: 'webhook', url, secret: '${secret.REMOTE_AGENT}' },
    },
  });

test('the template makes an agent that answers from its own program', async (t) => {
  const space = await api.createSpace('Elsewhere', [omar], {
    maxChainDepth: 1,
  });
  const page = await openPage(t, `#/s/${space.id}`);
  await page.getByRole('heading', { name: 'Elsewhere', exact: true }).waitFor();
  await page.goto(`${remote.base}/#/agents/new`);
  await page.getByRole('radio', { name: /^Remote agent/ }).check();
  const fields = form(page, 'New agent');
  await fields.getByLabel('Name', { exact: true }).fill('Remy');
  await fields.getByRole('checkbox', { name: 'Elsewhere', exact: true, checked: true }).waitFor();
  await fields.getByLabel('Address').fill(program.url);
  assert.equal(await fields.getByLabel('Provider').count(), 0);
  await fields.getByLabel('Name of the secret').fill(SECRET);
  await press(fields, 'Create agent');
  await fields.getByText('write only the name of a secret').waitFor();
  await fields.getByLabel('Name of the secret').fill('REMOTE_AGENT');
  await press(fields, 'Create agent');
  await page.getByRole('heading', { name: 'Remy', exact: true, level: 1 }).waitFor();

  await page.goto(`${remote.base}/#/s/${space.id}`);
  await send(page, 'Where are you?');
  await storedEntry(page, 'From elsewhere.').waitFor();
  await page.getByRole('button', { name: /^Remy spoke/ }).click();
  await page.getByRole('heading', { name: 'What it was sent' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Try it again' }).count(), 0);
  await page.getByRole('link', { name: 'Open run' }).click();

  await page.getByText('The agent works elsewhere.').waitFor();
  await part(page, 'What it posted').getByText('From elsewhere.').waitFor();
  await part(page, 'What it was sent').getByText('Where are you?').waitFor();
  await page.getByLabel('About this run').getByText('1,200 in · 80 out · $0.02').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Fork', exact: true }).count(), 0);

  await page.goto(`${remote.base}/#/runs`);
  const row = page.getByRole('row').filter({ hasText: 'Remy' }).first();
  await row.getByText('1,280').getByText('reported').waitFor();
  await row.getByText('works elsewhere').waitFor();
});

test('the setup of a remote agent has its address, and no model', async (t) => {
  const agent = await createRemote('Sol', program.url);
  const page = await openPage(t, '#/agents');
  const host = new URL(program.url).host;
  await page.getByRole('row', { name: 'Sol' }).getByText(`remote: ${host}`).waitFor();
  await page.getByRole('link', { name: 'Sol', exact: true }).click();
  const fields = form(page, 'Configuration');
  assert.equal(await fields.getByLabel('Name of the secret').inputValue(), 'REMOTE_AGENT');
  assert.equal(await fields.getByLabel('Provider').count(), 0);
  assert.equal(await fields.getByLabel('Tokens a day').count(), 0);
  assert.equal(await form(page, 'Test the model').count(), 0);
  await fields.getByLabel('Address').fill(`${program.url}/new`);
  await fields.getByLabel('Name of the secret').fill('OTHER');
  await fields.getByLabel('Time limit in seconds').fill('60');
  await press(fields, 'Save');
  await fields.getByText('Saved', { exact: true }).waitFor();
  assert.deepEqual((await api.entity(agent.id)).agent.runtime, {
    type: 'webhook',
    url: `${program.url}/new`,
    secret: '${secret.OTHER}',
    timeoutSeconds: 60,
  });
  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  await page.getByText('brings its own tools').waitFor();
});

test('a run that the program refuses says what to check', async (t) => {
  const agent = await createRemote('Gus', `${program.url}/gone`);
  const space = await api.createSpace('Refused', [omar, agent], {
    maxChainDepth: 1,
  });
  const { dispatch } = await api.postMessage(space, omar, 'Hello?');
  const { runId } = dispatch.find(({ agentId }) => agentId === agent.id);
  await api.waitForRun(runId);
  const page = await openPage(t, `#/r/${runId}`);
  const main = page.getByRole('main');
  await main.getByText('(refused)').waitFor();
  await main.getByText('Check the address in the agent’s Setup').waitFor();
});
