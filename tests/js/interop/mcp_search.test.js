// The search of an MCP client: what it finds, and what stays hidden from it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as sdk from '@modelcontextprotocol/client';
import { ApiClient, tokenOf } from '../api_client.js';
import { startProduct } from '../product.js';

test('an MCP client searches the spaces of its person', async (t) => {
  const product = await startProduct();
  t.after(product.stop);
  const api = new ApiClient(product);
  const husam = await api.createPerson('Husam');
  const sarah = await api.createPerson('Sarah');
  const garden = await api.createSpace('Garden', [husam, sarah]);
  const secret = await api.createSpace('Secret', [sarah]);
  const connect = async (person) => {
    const client = new sdk.Client({ name: 'interop-tests', version: '1.0.0' });
    const headers = { authorization: `Bearer ${tokenOf(person, product.jwtSecret)}` };
    const url = new URL(`${product.base}/v1/mcp`);
    await client.connect(new sdk.StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    t.after(() => client.close());
    return async (name, input) => client.callTool({ name, arguments: input });
  };
  const his = await connect(husam);
  const hers = await connect(sarah);
  for (const [space, text] of [
    [garden, 'The garden opens at nine.'],
    [secret, 'The opening of the vault is at ten.'],
  ])
    assert.ok(!(await hers('post_message', { spaceId: space.id, text })).isError);

  const found = (await his('search_messages', { query: 'openings', limit: 1 })).structuredContent;
  const [item, ...others] = found.items;
  assert.deepEqual(others, []);
  assert.deepEqual(
    [item.spaceName, item.seq, item.sender.name, item.excerpt, item.before, item.after],
    ['Garden', 1, 'Sarah', 'The garden opens at nine.', [], []],
  );
  assert.deepEqual(item.matches, [{ start: 11, end: 16 }]);
  assert.equal(found.searched.spaces, 1);
  const own = await his('search_messages', { query: 'opens', from: 'me' });
  assert.deepEqual(own.structuredContent.items, []);
  const hidden = await his('search_messages', { query: 'vault', spaceId: secret.id });
  assert.deepEqual([hidden.isError, hidden.structuredContent.status], [true, 404]);
  const wrong = await his('search_messages', { query: '-opens' });
  assert.deepEqual([wrong.isError, wrong.structuredContent.status], [true, 422]);
  const both = await hers('search_messages', { query: 'openings' });
  assert.equal(both.structuredContent.items.length, 2);
});
