// Tools of the client's own page over AG-UI: `HttpAgent` of both generations, and CopilotKit. All
// are unmodified; `HttpAgent` verifies the order of the events itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpAgent } from '@ag-ui/client';
import { CopilotKitCore } from '@copilotkit/core';
import { HttpAgent as HttpAgent0 } from 'ag-ui-client-0';
import { callRule, tokenOf } from '../api_client.js';
import { newestCard, startGarden, withoutWarnings } from './garden.js';

const CLIENTS = { 'the client of 1.0.0': HttpAgent, 'the client of 0.0.59': HttpAgent0 };
const RED = { color: 'red' };
const SET_COLOR = {
  name: 'set_color',
  description: 'Sets the color of the page.',
  parameters: { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] },
};

/** The garden, in which the guide sets the color of the page of whoever says something. */
async function startPainting(t) {
  const scene = await startGarden(t);
  const { api, guide } = scene;
  const rules = [callRule('set_color', RED, 'It is {{result.color}} now.')];
  const model = { provider: 'scripted', name: 'browser-tests', script: { rules } };
  await api.change(guide.id, { agent: { model } });
  return scene;
}

function agentOf(Client, { product, bearer }, space) {
  return new Client({ url: `${product.base}/v1/agui`, headers: bearer, threadId: space.id });
}

async function run(client, input = {}) {
  const events = [];
  await client.runAgent(input, { onEvent: ({ event }) => void events.push(event) });
  return events;
}

const callsOf = (client) => client.messages.flatMap(({ toolCalls = [] }) => toolCalls);
const lastText = (client) => client.messages.findLast(({ content }) => content).content;

for (const [name, Client] of Object.entries(CLIENTS)) {
  test(`${name}: runs a tool of its page, and the agent goes on with the result`, async (t) => {
    withoutWarnings(t);
    const scene = await startPainting(t);
    const { api, garden, husam } = scene;
    const client = agentOf(Client, scene, garden);
    client.addMessage({ id: 'local-1', role: 'user', content: '@Guide Make it red.' });
    const tools = [SET_COLOR];
    const asked = await run(client, { tools });
    assert.deepEqual(asked.at(-1).outcome, { type: 'success' });
    const [call] = callsOf(client);
    assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ['set_color', RED]);
    const { card } = await newestCard(scene);
    assert.deepEqual([card.status, card.ui, card.pageOf], ['pending', null, husam.id]);

    const content = JSON.stringify(RED);
    client.addMessage({ id: 'local-2', role: 'tool', toolCallId: call.id, content });
    const events = await run(client, { tools });
    assert.deepEqual(events.at(-1).outcome, { type: 'success' });
    assert.equal(lastText(client), 'It is red now.');
    const results = client.messages.filter(({ role }) => role === 'tool');
    assert.deepEqual(
      results.map((result) => JSON.parse(result.content)),
      [RED],
    );
    // Once more, as after a lost answer: nothing happens twice.
    const again = await run(client, { tools });
    assert.equal(again.at(-1).type, 'RUN_FINISHED');
    assert.equal((await api.messages(garden)).length, 3);
  });

  test(`${name}: does not see a call for the page of somebody else before its end`, async (t) => {
    withoutWarnings(t);
    const scene = await startPainting(t);
    const { garden, product, sarah } = scene;
    const client = agentOf(Client, scene, garden);
    client.addMessage({ id: 'local-1', role: 'user', content: '@Guide Make it red.' });
    const tools = [SET_COLOR];
    await run(client, { tools });
    const [call] = callsOf(client);
    const bearer = { authorization: `Bearer ${tokenOf(sarah, product.jwtSecret)}` };
    const other = agentOf(Client, { product, bearer }, garden);
    await run(other, { tools });
    assert.deepEqual(callsOf(other), []);
    const content = JSON.stringify(RED);
    // The page of another member cannot answer.
    other.addMessage({ id: 'forged', role: 'tool', toolCallId: call.id, content: '"blue"' });
    await run(other, { tools });
    assert.equal((await newestCard(scene)).card.status, 'pending');
    client.addMessage({ id: 'local-2', role: 'tool', toolCallId: call.id, content });
    await run(client, { tools });
    await run(other, { tools });
    assert.deepEqual(
      callsOf(other).map(({ id }) => id),
      [call.id],
    );
    assert.equal(lastText(other), 'It is red now.');
  });
}

test('CopilotKit runs a frontend tool, and tells the agent the result', async (t) => {
  const scene = await startPainting(t);
  const { api, garden } = scene;
  const client = agentOf(HttpAgent, scene, garden);
  const core = new CopilotKitCore({ agents__unsafe_dev_only: { garden: client } });
  const colors = [];
  const handler = async ({ color }) => {
    colors.push(color);
    return { color };
  };
  core.addTool({ name: 'set_color', description: SET_COLOR.description, handler });
  core.addContext({ description: 'the open tab', value: 'Roses' });
  const agent = core.getAgent('garden');
  agent.addMessage({ id: 'local-1', role: 'user', content: '@Guide Make it red.' });
  // It runs the tool and then the agent again, by itself.
  await core.runAgent({ agent });
  assert.deepEqual(colors, ['red']);
  assert.equal(lastText(agent), 'It is red now.');
  assert.equal((await api.messages(garden)).length, 3);
});

test('what a page cannot be is refused, and what a client leaves empty is not', async (t) => {
  const scene = await startPainting(t);
  const { product, garden, bearer } = scene;
  const ask = async (more) => {
    const messages = [{ id: crypto.randomUUID(), role: 'user', content: 'Hi' }];
    const response = await fetch(`${product.base}/v1/agui`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer },
      body: JSON.stringify({ threadId: garden.id, runId: 'r', messages, ...more }),
    });
    const text = await response.text();
    return { status: response.status, text };
  };
  const tool = (name) => ({ ...SET_COLOR, name });
  const many = Array.from({ length: 21 }, (_, number) => tool(`tool_${number}`));
  const long = [{ ...SET_COLOR, description: 'x'.repeat(4000) }];
  for (const [tools, detail] of [
    [[tool('approve')], /a tool of Guide has this one/],
    [[tool('send_message')], /a built-in tool has this one/],
    [many, /at most 20 tools/],
    [Array.from({ length: 5 }, (_, number) => ({ ...long[0], name: `t${number}` })), /16384 bytes/],
  ]) {
    const answer = await ask({ tools });
    assert.equal(answer.status, 422, answer.text);
    assert.match(JSON.parse(answer.text).detail, detail);
  }
  const nothing = { resume: null, tools: null, context: null, state: null, forwardedProps: null };
  assert.equal((await ask(nothing)).status, 200);
  // What a page shows is cut, and a client keeps its own state.
  const context = [{ description: 'all of it', value: 'x'.repeat(20_000) }];
  const answer = await ask({ context, state: { tab: 'Roses' } });
  const events = answer.text.split('\n').filter((line) => line.startsWith('data: '));
  const snapshot = events.map((line) => JSON.parse(line.slice(6))).find((it) => it.snapshot);
  assert.deepEqual(Object.keys(snapshot.snapshot).sort(), ['members', 'space', 'tab']);
});
