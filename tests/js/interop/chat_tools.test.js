// Results of tools in the streams of ai 5, 6 and 7, read by the SDK's own transport and reader.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ai7 from 'ai';
import * as ai5 from 'ai-5';
import * as ai6 from 'ai-6';
import { callRule } from '../api_client.js';
import { startGarden, withoutWarnings } from './garden.js';

const PRICE = {
  name: 'price',
  description: 'Says the price of a rose.',
  inputSchema: { type: 'object' },
  visible: true,
  execution: { type: 'static', output: { euros: 3 } },
};

for (const [name, sdk] of Object.entries({ 'ai 5': ai5, 'ai 6': ai6, 'ai 7': ai7 })) {
  test(`${name} reads the result of a tool`, async (t) => {
    withoutWarnings(t);
    const { product, api, husam, bearer } = await startGarden(t);
    const rules = [callRule('price', {}, 'Three euros.')];
    const seller = await api.createAgent('Seller', rules, 0, [PRICE]);
    const shop = await api.createSpace('Shop', [husam, seller]);
    const parts = [{ type: 'text', text: 'How much?' }];
    const url = 'data:text/plain;charset=utf-8,one%20rose';
    const note = { type: 'file', mediaType: 'text/plain', filename: 'note.txt', url };
    const transport = new sdk.DefaultChatTransport({
      api: `${product.base}/v1/chat`,
      headers: bearer,
    });
    const stream = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: shop.id,
      messages: [{ id: 'local-1', role: 'user', parts: [...parts, note] }],
    });
    const fail = (error) => assert.fail(`the stream broke: ${error}`);
    let message;
    for await (const state of sdk.readUIMessageStream({ stream, onError: fail })) message = state;
    const tool = message.parts.find(({ type }) => type === 'dynamic-tool');
    assert.deepEqual(
      [tool.toolName, tool.state, tool.output],
      ['price', 'output-available', { euros: 3 }],
    );
    assert.equal(message.parts.findLast(({ type }) => type === 'text').text, 'Three euros.');
    // The file came as an address without base64.
    const [question] = await api.messages(shop);
    const file = question.parts.find(({ type }) => type === 'file');
    assert.deepEqual([file.name, file.contentType, file.bytes], ['note.txt', 'text/plain', 8]);
  });
}
