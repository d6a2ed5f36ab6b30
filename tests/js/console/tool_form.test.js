// The form of a tool beside its JSON, and a test call.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule } from '../api_client.js';
import { openTab, waitUntilLive } from './console_page.js';
import { api, product } from './suite.js';

const press = (place, name) => place.getByRole('button', { name, exact: true }).click();

test('a tool is made with a form beside its JSON, and tried', async (t) => {
  const agent = await api.createAgent('Fio form', [answerRule('Hi')]);
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/a/${agent.id}/tools`);
  const calls = [];
  await page.route('**/v1/tools/test', (route) => {
    calls.push(route.request().postDataJSON());
    const result = { status: 200, milliseconds: 41, isError: false, result: '{"state":"sent"}' };
    return route.fulfill({ json: result });
  });
  const tools = page.getByRole('region', { name: 'Tools of its own' });
  await press(tools, 'Add an HTTP call');
  const fields = tools.getByRole('group', { name: 'The tool as a form' });
  await fields.getByLabel('Name', { exact: true }).fill('get_order');
  await fields.getByLabel('Address').fill('https://api.example.com/orders/{{input.order}}');
  await fields.getByLabel('Secret').fill('ORDER_KEY');
  const parameter = fields.getByRole('group', { name: 'Parameter 1' });
  await parameter.getByLabel('Name of the parameter').fill('order');
  await parameter.getByLabel('Kind').selectOption('Whole number');
  await parameter.getByLabel('What it means').fill('Its four digits');
  const document = {
    name: 'get_order',
    description: 'Returns the weather of a city.',
    inputSchema: {
      type: 'object',
      properties: { order: { type: 'integer', description: 'Its four digits' } },
      required: ['order'],
      additionalProperties: false,
    },
    readOnly: true,
    idempotent: true,
    visible: true,
    execution: {
      type: 'http',
      method: 'GET',
      url: 'https://api.example.com/orders/{{input.order}}',
      headers: { Authorization: 'Bearer ${secret.ORDER_KEY}' },
    },
  };
  const editor = page.getByRole('form', { name: 'The tool as JSON' });
  const json = editor.getByLabel('Tool as JSON');
  assert.deepEqual(JSON.parse(await json.inputValue()), document);

  // Test makes one call with a sample of the parameters.
  const test = tools.getByRole('region', { name: 'Test' });
  await press(test, 'Test');
  await test.getByText('completed · status 200 · 41 ms').waitFor();
  await test.getByText('{"state":"sent"}').waitFor();
  assert.deepEqual(calls, [{ tool: document, input: { order: 1 } }]);

  // What is typed as JSON shows in the form.
  await json.fill(JSON.stringify({ ...document, name: 'find_order' }));
  assert.equal(await fields.getByLabel('Name', { exact: true }).inputValue(), 'find_order');
  await press(editor, 'Save tool');
  await tools.getByRole('listitem').filter({ hasText: 'find_order' }).waitFor();
  const [saved] = (await api.entity(agent.id)).agent.tools;
  assert.deepEqual([saved.name, saved.execution.url], ['find_order', document.execution.url]);
});
