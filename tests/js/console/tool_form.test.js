// The form of a tool beside its JSON, and a test call.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule } from '../api_client.js';
import { openTab, waitUntilFocused, waitUntilLive } from './console_page.js';
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
  // A secret that does not exist would fail the first test.
  assert.equal(await fields.getByLabel('Secret').inputValue(), '');
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

test('a fault of a tool stands at its field, and goes when the field is changed', async (t) => {
  const agent = await api.createAgent('Fay form', [answerRule('Hi')]);
  const page = await openTab(t, { expected: [/422/] });
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/#/a/${agent.id}/tools`);
  const tools = page.getByRole('region', { name: 'Tools of its own' });
  await press(tools, 'Add an HTTP call');
  const fields = tools.getByRole('group', { name: 'The tool as a form' });
  const editor = page.getByRole('form', { name: 'The tool as JSON' });
  const json = editor.getByLabel('Tool as JSON');
  const name = fields.getByLabel('Name', { exact: true });
  const address = fields.getByLabel('Address');
  const marked = editor.getByText('Nothing was saved. See the marked fields.');
  const words = 'expected http:// or https:// and a host without placeholders';
  await name.fill('get order');
  await address.fill('htp://api.example.com/orders');
  await press(editor, 'Save tool');
  await marked.waitFor();
  await waitUntilFocused(name);
  assert.equal(await json.getAttribute('aria-invalid'), null);
  assert.equal(await address.getAttribute('aria-invalid'), 'true');
  await fields.getByText(words, { exact: true }).waitFor();
  await address.fill('https://api.example.com/orders');
  assert.equal(await address.getAttribute('aria-invalid'), null);
  assert.equal(await fields.getByText(words).count(), 0);
  assert.equal(await name.getAttribute('aria-invalid'), 'true');
  // What is repaired in the JSON is repaired, too.
  await json.fill((await json.inputValue()).replace('get order', 'get_order'));
  assert.equal(await name.getAttribute('aria-invalid'), null);
  assert.equal(await marked.count(), 0);

  // A type that is none is chosen anew in the form.
  await json.fill((await json.inputValue()).replace('"string"', '"strng"'));
  const parameter = fields.getByRole('group', { name: 'Parameter 1' });
  await parameter.getByText('“strng” is no type: choose the kind of city.').waitFor();
  await press(editor, 'Save tool');
  await marked.waitFor();
  await waitUntilFocused(parameter.getByLabel('Kind'));
  await parameter.getByLabel('Kind').selectOption('Text');
  assert.equal(await fields.getByText('“strng”').count(), 0);

  // What has no field of its own stands at the JSON, until the JSON is changed.
  const late = JSON.parse(await json.inputValue());
  late.execution.timeoutMs = 0;
  await json.fill(JSON.stringify(late));
  await press(editor, 'Save tool');
  await editor.getByText('Tool “fetchWeather”').or(editor.getByText('timeoutMs')).first().waitFor();
  assert.equal(await json.getAttribute('aria-invalid'), 'true');
  await fields.getByLabel('Description').fill('Returns an order.');
  assert.equal(await json.getAttribute('aria-invalid'), null);
});
