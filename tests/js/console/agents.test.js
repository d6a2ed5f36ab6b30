// The agents, new agents from templates, and the setup and tools of one agent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab, waitUntilFocused, waitUntilLive } from './console_page.js';
import { answerRule, callRule, formTool } from '../api_client.js';
import { api, husam, product } from './suite.js';

/** Opens a page for operators. */
async function openPage(t, hash, options) {
  const page = await openTab(t, options);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/${hash}`);
  return page;
}

// The side may look at the space of a test after it was deleted.
const GONE = { expected: [/404/] };

const main = (page) => page.getByRole('main');
const heading = (page, name) => main(page).getByRole('heading', { name, exact: true, level: 1 });
const row = (page, name) => page.getByRole('table', { name: 'Agents' }).getByRole('row', { name });
const form = (page, name) => page.getByRole('form', { name, exact: true });
const press = (place, name) => place.getByRole('button', { name, exact: true }).click();
const configOf = async ({ id }) => (await api.entity(id)).agent;

const accept = (page) => page.once('dialog', (dialog) => dialog.accept());

test('the list shows each agent with its state, its model and its last failure', async (t) => {
  const fay = await api.createAgent('Fay fails', [{ steps: [{ error: 'bad_request' }] }]);
  const wes = await api.createAgent(
    'Wes waits',
    [callRule('ask', { message: 'Shall I?', options: ['Yes'] }, 'Done')],
    0,
    [formTool('ask', { ui: 'buttons' })],
  );
  const space = await api.createSpace('List of agents', [husam, fay, wes], { maxChainDepth: 1 });
  await api.postMessage(space, husam, 'Hello');
  const page = await openPage(t, '#/agents');
  await heading(page, 'Agents').waitFor();
  await row(page, 'Fay fails').getByText('scripted/browser-tests').waitFor();
  await row(page, 'Fay fails').getByText('active', { exact: true }).waitFor();
  await row(page, 'Wes waits').getByRole('link', { name: 'waits for an answer' }).waitFor();
  await row(page, 'Fay fails').getByRole('link', { name: 'bad_request' }).click();
  await page.waitForURL(/#\/r\/run_/);
  await page.goBack();

  await press(row(page, 'Fay fails'), 'Pause Fay fails');
  await row(page, 'Fay fails').getByText('paused', { exact: true }).waitFor();
  assert.equal((await configOf(fay)).paused, true);
  await press(row(page, 'Fay fails'), 'Resume Fay fails');
  await row(page, 'Fay fails').getByText('active', { exact: true }).waitFor();

  await row(page, 'Fay fails').getByRole('link', { name: 'Fay fails', exact: true }).click();
  await heading(page, 'Fay fails').waitFor();
  await page.getByRole('link', { name: 'Setup', exact: true }).waitFor();
});

test('a long list is filtered by name, and on a phone each agent takes two lines', async (t) => {
  const page = await openTab(t, { viewport: { width: 390, height: 844 } });
  const all = Array.from({ length: 21 }, (_, n) => ({
    id: `ent_${n}`,
    type: 'agent',
    name: `Agent ${n}`,
    agent: { description: 'Answers questions about orders. '.repeat(4), model: {} },
  }));
  const shown = { items: all };
  await page.route('**/v1/entities?limit=200', (route) =>
    route.fulfill({ json: { items: shown.items, nextCursor: null } }),
  );
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/agents`);
  const filter = page.getByRole('searchbox', { name: 'Filter by name' });
  await filter.waitFor();
  const { height } = await row(page, 'Agent 20').boundingBox();
  assert.ok(height < 80, `${height} px`);
  await filter.fill('AGENT 20');
  await page.getByText('1 of 21', { exact: true }).waitFor();
  const links = page.getByRole('table', { name: 'Agents' }).getByRole('link');
  assert.deepEqual(await links.allInnerTexts(), ['Agent 20']);
  // A short list needs none.
  shown.items = all.slice(1);
  await page.reload();
  await row(page, 'Agent 20').waitFor();
  assert.equal(await filter.count(), 0);
});

test('three clicks add an agent to the space that was open', async (t) => {
  const space = await api.createSpace('Three clicks', [husam]);
  const page = await openPage(t, `#/s/${space.id}`);
  await heading(page, 'Three clicks').waitFor();
  await page
    .getByRole('navigation', { name: 'Build' })
    .getByRole('link', { name: 'Agents' })
    .click();
  await page.getByRole('link', { name: 'New agent' }).click();
  await page.getByRole('checkbox', { name: 'Three clicks', exact: true, checked: true }).waitFor();
  await press(form(page, 'New agent'), 'Create agent');
  await heading(page, 'Assistant').waitFor();
  assert.ok((await api.space(space)).members.some(({ name }) => name === 'Assistant'));
});

for (const [template, answer] of [
  ['Assistant', /Hello Husam! You wrote: Good day/],
  ['Silent observer', null],
  ['Approver', /^“Good day” is decided\. The call was made\.$/],
  ['Webhook handler', /I report here/],
  ['Dispatcher', /It is mine/],
  ['Scripted', /Hello Husam, I play a script/],
]) {
  test(`the template ${template} makes an agent that works`, async (t) => {
    const other = await api.createAgent(`Other of ${template}`, [
      { ...answerRule('It is mine'), when: { source: 'delegated' } },
    ]);
    const space = await api.createSpace(`Space of ${template}`, [husam, other], {
      maxChainDepth: 2,
    });
    const page = await openPage(t, '#/agents/new');
    const card = page.getByRole('radio', { name: new RegExp(`^${template}`) });
    await card.check();
    const fields = form(page, 'New agent');
    await fields.getByLabel('Name', { exact: true }).fill(`A ${template}`);
    if (template !== 'Scripted')
      await fields.getByLabel('Provider').selectOption({ value: 'scripted' });
    const chosen = fields.getByRole('group', { name: 'Add to these spaces' });
    const last = chosen.getByRole('checkbox', { name: 'Welcome', exact: true });
    await last.waitFor();
    if (template === 'Dispatcher') assert.equal(await last.isChecked(), false);
    await last.uncheck();
    await chosen.getByRole('checkbox', { name: space.name, exact: true }).check();
    await press(fields, 'Create agent');
    await heading(page, `A ${template}`).waitFor();
    const next = page.getByRole('link', { name: `Try it in ${space.name}` });
    assert.equal(await next.getAttribute('href'), `#/s/${space.id}`);

    const joined = await api.space(space);
    const agent = joined.members.find(({ name }) => name === `A ${template}`);
    assert.equal(joined.adminAgentId, template === 'Dispatcher' ? agent.id : null);
    const { dispatch } = await api.postMessage(space, husam, 'Good day');
    const { runId } = dispatch.find(({ agentId }) => agentId === agent.id);
    if (template === 'Approver') {
      const asked = await api.waitForMessage(space, ({ parts }) => parts[0].status === 'pending');
      assert.equal(asked.parts[0].approval.state, 'open');
      await api.answer(husam, runId, asked.parts[0].callId, { output: { action: 'approve' } });
    }
    if (answer === null) {
      const run = await api.waitForRun(runId);
      assert.equal(run.endReason, 'skipped');
      const memories = await api.memories(agent);
      assert.deepEqual(
        memories.map(({ value }) => value),
        ['Good day'],
      );
    } else await api.waitForMessage(space, ({ parts }) => answer.test(parts[0].text ?? ''));
    if (template === 'Webhook handler') {
      await api.trigger(agent, 'ci', { build: 42 });
      await api.waitForMessage(space, ({ parts }) => /"build":42/.test(parts[0].text ?? ''));
    }
  });
}

test('the templates are valid for a real model, too', async (t) => {
  const page = await openPage(t, '#/agents/new');
  for (const template of [
    'Assistant',
    'Silent observer',
    'Approver',
    'Webhook handler',
    'Dispatcher',
  ]) {
    await page.goto(`${product.base}/#/agents/new`);
    await page.getByRole('radio', { name: new RegExp(`^${template}`) }).check();
    const fields = form(page, 'New agent');
    await fields.getByLabel('Name', { exact: true }).fill(`Real ${template}`);
    await fields.getByRole('checkbox', { name: 'Welcome', exact: true }).waitFor();
    const checked = fields.getByRole('checkbox', { checked: true });
    while ((await checked.count()) > 0) await checked.first().uncheck();
    await press(fields, 'Create agent');
    await heading(page, `Real ${template}`).waitFor();
    assert.equal(await page.getByLabel('Provider').inputValue(), 'anthropic');
  }
});

test('a name that the space has, and a value that the server refuses, are said', async (t) => {
  const ana = await api.createAgent('Ana taken', [answerRule('Hi')]);
  const space = await api.createSpace('Taken', [husam, ana]);
  const page = await openPage(t, '#/agents/new', { expected: [/422/] });
  const fields = form(page, 'New agent');
  await fields.getByLabel('Name', { exact: true }).fill('ana TAKEN');
  await fields.getByRole('checkbox', { name: space.name, exact: true }).check();
  await press(fields, 'Create agent');
  await fields.getByRole('alert').getByText('“Taken” already has an agent of this name').waitFor();

  await fields.getByLabel('Name', { exact: true }).fill('Ana 2');
  const model = fields.getByLabel('Model', { exact: true });
  await model.fill('m'.repeat(201));
  await press(fields, 'Create agent');
  await page.locator('input[aria-invalid="true"]').waitFor();
  assert.ok(await model.evaluate((input) => input.getAttribute('aria-invalid') === 'true'));
  assert.equal(await model.inputValue(), 'm'.repeat(201));
});

test('the form saves what was changed, and the JSON beside it shows it', async (t) => {
  const agent = await api.createAgent('Sam setup', [answerRule('Hi')]);
  const page = await openPage(t, `#/a/${agent.id}/setup`);
  const fields = form(page, 'Configuration');
  const json = form(page, 'Configuration as JSON').getByLabel('Configuration');
  await fields.getByLabel('Name', { exact: true }).fill('Sam changed');
  await fields.getByLabel('Instructions').fill('Be brief.');
  await fields.getByLabel('Temperature').fill('0.5');
  await fields.getByLabel('Fallback models').fill('openai/gpt-5-mini\nanthropic/claude-haiku-4-5');
  await fields.getByLabel('Steps').fill('7');
  await fields.getByLabel('While it is busy in a space').selectOption('coalesce');
  await fields.getByLabel('Tokens a day').fill('5000');
  await fields.getByLabel('Owners of spaces may add it').check();
  await fields
    .getByLabel('Services that may trigger it')
    .fill('{"ci": {"scheme": "github", "secrets": ["CI_HOOK"]}}');
  await press(fields, 'Save');
  await fields.getByText('Saved', { exact: true }).waitFor();
  await heading(page, 'Sam changed').waitFor();

  const config = await configOf(agent);
  assert.equal(config.instructions, 'Be brief.');
  assert.equal(config.model.temperature, 0.5);
  assert.deepEqual(
    config.model.fallback.map(({ provider }) => provider),
    ['openai', 'anthropic'],
  );
  assert.equal(config.loop.maxSteps, 7);
  assert.equal(config.concurrency.mode, 'coalesce');
  assert.equal(config.budget.tokensPerDay, 5000);
  assert.equal(config.open, true);
  assert.deepEqual(config.webhooks.ci.secrets, ['CI_HOOK']);
  assert.deepEqual(JSON.parse(await json.inputValue()), config);

  await fields.getByLabel('Tokens a day').fill('');
  await fields.getByLabel('Services that may trigger it').fill('{}');
  await press(fields, 'Save');
  await page.waitForFunction(
    () => !document.querySelector('textarea[name="/agent"]').value.includes('CI_HOOK'),
  );
  const after = await configOf(agent);
  assert.equal(after.budget.tokensPerDay, null);
  assert.deepEqual(after.webhooks ?? {}, {});
});

test('an error of the server is beside its field, and what was typed stays', async (t) => {
  const agent = await api.createAgent('Eve error', [answerRule('Hi')]);
  const page = await openPage(t, `#/a/${agent.id}/setup`, { expected: [/422/] });
  const fields = form(page, 'Configuration');
  const limit = fields.getByLabel('Time limit');
  await limit.fill('soon');
  await press(fields, 'Save');
  await fields.getByText('Nothing was saved. See the marked fields.').waitFor();
  assert.equal(await limit.getAttribute('aria-invalid'), 'true');
  assert.equal(await limit.inputValue(), 'soon');
  await waitUntilFocused(limit);
  // The error is about what was sent.
  await limit.fill('30 seconds');
  assert.equal(await limit.getAttribute('aria-invalid'), null);
  assert.equal(await fields.getByText('See the marked fields.').count(), 0);
  await press(fields, 'Undo changes');
  assert.equal(await limit.inputValue(), '30 minutes');
  assert.equal(await limit.getAttribute('aria-invalid'), null);
});

test('the JSON saves what was changed and removed, and the form shows it', async (t) => {
  const agent = await api.createAgent('Jo JSON', [answerRule('Hi')]);
  const page = await openPage(t, `#/a/${agent.id}/setup`, { expected: [/422/] });
  const fields = form(page, 'Configuration');
  const jsonForm = form(page, 'Configuration as JSON');
  const json = jsonForm.getByLabel('Configuration');
  const edit = async (change) => {
    const config = JSON.parse(await json.inputValue());
    change(config);
    await json.fill(JSON.stringify(config));
    await press(jsonForm, 'Save JSON');
  };
  await edit((config) => {
    delete config.description;
    config.loop.maxSteps = 3;
    config.concurrency.mode = 'latest';
  });
  await jsonForm.getByText('Saved', { exact: true }).waitFor();
  assert.equal(await fields.getByLabel('Description').inputValue(), '');
  assert.equal(await fields.getByLabel('Steps').inputValue(), '3');
  assert.equal(await fields.getByLabel('While it is busy in a space').inputValue(), 'latest');
  assert.deepEqual(JSON.parse(await json.inputValue()), await configOf(agent));

  await edit((config) => (config.loop.maxSteps = 1000));
  await jsonForm.getByText('/loop/maxSteps').waitFor();
  assert.equal(JSON.parse(await json.inputValue()).loop.maxSteps, 1000);

  await fields.getByLabel('Description').fill('Something');
  await press(fields, 'Save');
  await fields.getByText('The JSON has changes that are not saved').waitFor();
  await press(jsonForm, 'Undo changes');
  await press(fields, 'Save');
  await fields.getByText('Saved', { exact: true }).waitFor();
  assert.equal((await configOf(agent)).description, 'Something');

  await json.fill('{');
  await press(jsonForm, 'Save JSON');
  await jsonForm.getByText('This is not JSON').waitFor();
});

test('a scripted agent becomes one with a model, and its script is removed', async (t) => {
  const agent = await api.createAgent('Mo model', [answerRule('Hi')]);
  const page = await openPage(t, `#/a/${agent.id}/setup`);
  const fields = form(page, 'Configuration');
  await fields.getByLabel('Script', { exact: true }).waitFor();
  await fields.getByLabel('Provider').selectOption('openai');
  await fields.getByLabel('Script', { exact: true }).waitFor({ state: 'detached' });
  await fields.getByRole('combobox', { name: 'Model', exact: true }).fill('gpt-5-mini');
  await press(fields, 'Save');
  await fields.getByText('Saved', { exact: true }).waitFor();
  const { model } = await configOf(agent);
  assert.equal(model.provider, 'openai');
  assert.equal(model.script ?? null, null);
});

const spacesNamed = async (name) => (await api.spaces()).filter((each) => each.name === name);

test('a test of the model shows the answer and leaves no space', async (t) => {
  const agent = await api.createAgent('Tess', [answerRule('I am here.')]);
  const page = await openPage(t, `#/a/${agent.id}/setup`, GONE);
  const fields = form(page, 'Test the model');
  await fields.getByLabel('Message').fill('Are you there?');
  await fields.getByLabel('Send as').selectOption('Husam');
  await press(fields, 'Test the model');
  const answer = page.getByRole('region', { name: 'Answer' });
  await answer.getByText('I am here.').waitFor();
  await answer.getByText(/\d+ tokens read · \d+ written · \$\d.* · .*s · /).waitFor();
  assert.deepEqual(await spacesNamed('Test of Tess'), []);
  await answer.getByRole('link', { name: 'Open the run' }).click();
  await page.waitForURL(/#\/r\/run_/);
});

test('a failed test says why', async (t) => {
  const agent = await api.createAgent('Tom fails', [{ steps: [{ error: 'bad_request' }] }]);
  const page = await openPage(t, `#/a/${agent.id}/setup`, GONE);
  const fields = form(page, 'Test the model');
  await fields.getByLabel('Message').fill('Hello');
  await fields.getByLabel('Send as').selectOption('Husam');
  await press(fields, 'Test the model');
  await page.getByRole('region', { name: 'Answer' }).getByText('(bad_request)').waitFor();

  await press(page, 'Pause Tom fails');
  await main(page).getByText('paused', { exact: true }).waitFor();
  await press(fields, 'Test the model');
  await fields.getByText('The message did not wake the agent: paused.').waitFor();
  assert.deepEqual(await spacesNamed('Test of Tom fails'), []);
});

test('a test without a person says that one is needed', async (t) => {
  const agent = await api.createAgent('Alone', [answerRule('Hi')]);
  const page = await openPage(t, '#/usage', { expected: [/404|403/] });
  await page.route('**/v1/entities?limit=200', (route) =>
    route.fulfill({ json: { items: [agent], nextCursor: null } }),
  );
  await page.goto(`${product.base}/#/a/${agent.id}/setup`);
  const fields = form(page, 'Test the model');
  await fields.getByText('A person has to ask, and there is none.').waitFor();
  assert.ok(await fields.getByRole('button', { name: 'Test the model' }).isDisabled());
  await fields.getByRole('link', { name: 'Create a person' }).click();
  await page.waitForURL(/#\/people$/);
  await page.route('**/v1/entities?limit=200', (route) => route.fulfill({ status: 403, json: {} }));
  await page.goto(`${product.base}/#/a/${agent.id}/setup`);
  await fields.getByRole('alert').getByText('The server answered 403.').waitFor();
  assert.equal(await fields.getByText('there is none').count(), 0);
});

test('leaving the page ends the test and deletes its space', async (t) => {
  const agent = await api.createAgent('Slow Sue', [answerRule('One '.repeat(200))], 500);
  const page = await openPage(t, `#/a/${agent.id}/setup`, GONE);
  for (const leave of [
    () => press(form(page, 'Test the model'), 'Stop'),
    () => page.goto(`${product.base}/#/agents`),
    () => page.reload(),
  ]) {
    await page.goto(`${product.base}/#/a/${agent.id}/setup`);
    const fields = form(page, 'Test the model');
    await fields.getByLabel('Message').fill('Hello');
    await fields.getByLabel('Send as').selectOption('Husam');
    await press(fields, 'Test the model');
    // Once it has asked its question, the page knows the space that it has to delete.
    await api.waitFor(async () => {
      const [space] = await spacesNamed('Test of Slow Sue');
      return space && (await api.messages(space)).length > 0;
    });
    await leave();
    await api.waitFor(async () => (await spacesNamed('Test of Slow Sue')).length === 0);
  }
});

test('tools are added from templates, changed and removed', async (t) => {
  const agent = await api.createAgent('Tia tools', [answerRule('Hi')]);
  const page = await openPage(t, `#/a/${agent.id}/tools`, { expected: [/422/] });
  const tools = page.getByRole('region', { name: 'Tools of its own' });
  await tools.getByText('No tool is configured.').waitFor();
  const editor = form(page, 'The tool as JSON');
  for (const [button, name, words] of [
    ['Add buttons', 'askForApproval', 'Asks people with buttons'],
    ['Add a form', 'askForAmount', 'Asks people with a form'],
    ['Add an HTTP call', 'fetchWeather', 'Calls GET https://api.example.com/weather'],
    ['Add a computation', 'addTax', 'Computes input.price * 1.19'],
    ['Add a constant', 'officeHours', 'Always returns the same result'],
    ['Add pictures', 'draw', 'Draws pictures of 1024x1024 pixels with openai/gpt-image-1'],
  ]) {
    await press(tools, button);
    await press(editor, 'Save tool');
    await tools.getByRole('listitem').filter({ hasText: name }).getByText(words).waitFor();
  }
  assert.equal((await configOf(agent)).tools.length, 6);
  await tools.getByText('Answer schema').click();
  await tools.getByText('"Euros"').waitFor();

  await press(tools, 'Edit fetchWeather');
  const json = editor.getByLabel('Tool as JSON');
  const typed = (await json.inputValue()).replace('"GET"', '"FETCH"');
  await json.fill(typed);
  await press(editor, 'Save tool');
  await tools.getByText('expected GET, POST, PUT, PATCH or DELETE', { exact: true }).waitFor();
  await waitUntilFocused(tools.getByLabel('Method', { exact: true }));
  assert.equal(await json.inputValue(), typed);
  await json.fill(typed.replace('"FETCH"', '"POST"'));
  await press(editor, 'Save tool');
  await tools.getByText('Calls POST https://api.example.com/weather').waitFor();

  accept(page);
  await press(tools, 'Remove askForAmount');
  await tools.getByText('Removed', { exact: true }).waitFor();
  assert.deepEqual(
    (await configOf(agent)).tools.map(({ name }) => name),
    ['askForApproval', 'fetchWeather', 'addTax', 'officeHours', 'draw'],
  );
});

test('MCP servers are added and removed, and built-in tools turned off', async (t) => {
  const agent = await api.createAgent('Max MCP', [answerRule('Hi')]);
  const page = await openPage(t, `#/a/${agent.id}/tools`);
  const servers = page.getByRole('region', { name: 'MCP servers' });
  await press(servers, 'Add an MCP server');
  await press(form(page, 'The server as JSON'), 'Save server');
  await servers.getByText('Tools: search').waitFor();
  assert.equal((await configOf(agent)).mcp.servers[0].name, 'docs');
  accept(page);
  await press(servers, 'Remove docs');
  await servers.getByText('No MCP server is configured.').waitFor();

  const builtins = form(page, 'Built-in tools');
  await builtins.getByLabel('Goals').uncheck();
  await press(builtins, 'Save built-in tools');
  await builtins.getByText('Saved', { exact: true }).waitFor();
  const { goals, memories } = (await configOf(agent)).builtins;
  assert.deepEqual({ goals, memories }, { goals: false, memories: true });
});

test('an agent is paused, and retired after a question', async (t) => {
  const agent = await api.createAgent('Rae retires', [answerRule('Hi')]);
  const page = await openPage(t, `#/a/${agent.id}/setup`);
  await press(page, 'Pause Rae retires');
  await page.getByRole('button', { name: 'Resume Rae retires' }).waitFor();
  await form(page, 'Configuration')
    .getByRole('checkbox', { name: 'Paused', checked: true })
    .waitFor();
  assert.equal((await configOf(agent)).paused, true);
  page.once('dialog', (dialog) => dialog.dismiss());
  await press(page, 'Retire Rae retires');
  let question = '';
  page.once('dialog', (dialog) => {
    question = dialog.message();
    return dialog.accept();
  });
  await press(page, 'Retire Rae retires');
  await heading(page, 'Agents').waitFor();
  assert.match(question, /Its messages stay/);
  await assert.rejects(api.entity(agent.id), /404/);
  assert.equal(await row(page, 'Rae retires').count(), 0);
});

test('each tab has an address, and an unknown agent is said so', async (t) => {
  const agent = await api.createAgent('Tab', [answerRule('Hi')]);
  const page = await openPage(t, `#/a/${agent.id}/nonsense`, { expected: [/404/] });
  const tabs = page.getByRole('navigation', { name: 'Parts of this page' });
  await tabs.locator('[aria-current="page"]').getByText('Setup').waitFor();
  for (const name of ['Tools', 'Memory', 'Goals', 'Plans', 'Deliveries', 'Runs', 'Setup']) {
    await tabs.getByRole('link', { name, exact: true }).click();
    await tabs.locator('[aria-current="page"]').getByText(name).waitFor();
    assert.match(page.url(), new RegExp(`#/a/${agent.id}/${name.toLowerCase()}$`));
  }
  await page.goto(`${product.base}/#/a/ent_00000000000000000000000000/setup`);
  await main(page).getByRole('alert').filter({ hasText: /./ }).waitFor();
});
