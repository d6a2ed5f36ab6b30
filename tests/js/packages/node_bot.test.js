// The example node-bot, installed from the packed packages.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { ApiClient, answerRule, callRule, formTool, tokenOf } from '../api_client.js';
import { startProduct } from '../product.js';
import { installedExample } from './packages.js';
import { nodes } from './nodes.js';

const LIMIT_MS = 30_000;
const ANSWER = 'It takes three weeks until the first roses open.';
const APPROVAL = { message: 'Order 40 roses?', options: ['Approve', 'Reject'] };

/** Runs the bot until it ends by itself: `{code, output, pieces}`, its output in pieces. */
async function runBot(node, folder, env, text) {
  const options = {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    timeout: LIMIT_MS,
  };
  const child = spawn(node, ['bot.js', text], options);
  const pieces = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => pieces.push(data));
  const [code, signal] = await once(child, 'close');
  const output = Buffer.concat(pieces).toString();
  assert.equal(signal, null, `the bot did not end by itself:\n${output}`);
  return { code, output, pieces };
}

test('the bot talks to an agent', async (t) => {
  const folder = await installedExample(t, 'node-bot');
  const product = await startProduct();
  t.after(product.stop);
  const api = new ApiClient(product);
  const sarah = await api.createPerson('Sarah');
  const order = callRule('approve', APPROVAL, 'You chose: {{result.choice}}');
  const rules = [{ ...order, when: { contains: 'order' } }, answerRule(ANSWER)];
  const tools = [formTool('approve', { ui: 'buttons' })];
  const guide = await api.createAgent('Guide', rules, 200, tools);

  for (const [version, node] of await nodes())
    await t.test(`with Node ${version}`, { skip: !node && 'it is not installed' }, async () => {
      const space = await api.createSpace(`Garden ${version}`, [sarah, guide]);
      const env = {
        SMARTSPACE_URL: product.base,
        SMARTSPACE_TOKEN: tokenOf(sarah, product.jwtSecret),
        SMARTSPACE_SPACE: space.id,
      };
      const answer = await runBot(node, folder, env, 'How long does it take?');
      assert.deepEqual([answer.output, answer.code], [`Guide: ${ANSWER}\n`, 0]);
      assert.ok(answer.pieces.length > 2, 'the answer came in one piece');
      const form = await runBot(node, folder, env, 'Please order roses.');
      const expected = `${APPROVAL.message} I say: Approve\nGuide: You chose: Approve\n`;
      assert.deepEqual([form.output, form.code], [expected, 0]);
      const texts = (await api.messages(space)).flatMap(({ parts }) => parts[0].text ?? []);
      assert.equal(texts.length, 4);
    });
});
