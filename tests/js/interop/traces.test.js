// Traces of runs in a collector.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiClient } from '../api_client.js';
import { startProduct } from '../product.js';
import { startCollector } from './collector.js';

/** A person with an agent that looks up two things and hands over to another one. */
async function scene(t, variables = {}) {
  const collector = await startCollector(t);
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...variables };
  const product = await startProduct({ environment });
  t.after(product.stop);
  const api = new ApiClient(product);
  const husam = await api.createPerson('Husam');
  const steps = [
    {
      calls: [
        { tool: 'set_memories', input: { memories: [{ key: 'roses', value: 'red' }] } },
        { tool: 'get_memories', input: { keys: ['roses'] } },
      ],
    },
    { calls: [{ tool: 'send_message', input: { text: '@Weather, is it warm?' } }] },
  ];
  const guide = await api.createAgent('Guide', [{ steps }]);
  const answer = { calls: [{ tool: 'send_message', input: { text: 'It is warm.' } }] };
  const weather = await api.createAgent('Weather', [{ steps: [answer] }]);
  const mention = { triggerPolicy: 'mention' };
  const garden = await api.createSpace('Garden', [husam, guide, weather], mention);
  return { collector, product, api, husam, guide, weather, garden };
}

test('a run with three tools and a hand-over is one tree', async (t) => {
  const { collector, api, husam, guide, weather, garden } = await scene(t);
  await api.postMessage(garden, husam, '@Guide, what of the roses?');
  const spans = await collector.spans(11);
  const names = spans.map(({ name }) => name).sort();
  assert.deepEqual(names, [
    ...Array(5).fill('chat browser-tests'),
    'execute_tool get_memories',
    'execute_tool send_message',
    'execute_tool send_message',
    'execute_tool set_memories',
    'invoke_agent Guide',
    'invoke_agent Weather',
  ]);
  assert.equal(new Set(spans.map(({ trace }) => trace)).size, 1, 'one trace');
  assert.equal(new Set(spans.map(({ id }) => id)).size, spans.length, 'each span once');
  const named = (name) => spans.find((span) => span.name === name);
  const roots = spans.filter(({ parent }) => parent === '');
  assert.deepEqual(roots, [named('invoke_agent Guide')]);
  const known = new Set(spans.map(({ id }) => id));
  assert.ok(spans.every(({ parent }) => parent === '' || known.has(parent)));

  const handOver = spans.find(({ id }) => id === named('invoke_agent Weather').parent);
  assert.equal(handOver.name, 'execute_tool send_message');
  assert.equal(handOver.parent, roots[0].id);

  const { attributes } = roots[0];
  assert.equal(attributes['gen_ai.operation.name'], 'invoke_agent');
  assert.equal(attributes['gen_ai.agent.id'], guide.id);
  assert.equal(attributes['gen_ai.conversation.id'], garden.id);
  assert.equal(attributes['gen_ai.provider.name'], 'scripted');
  assert.equal(named('invoke_agent Weather').attributes['gen_ai.agent.id'], weather.id);
  const chats = spans.filter(({ name }) => name === 'chat browser-tests');
  assert.ok(chats.every(({ kind }) => kind === 'SPAN_KIND_CLIENT'));
  const sum = chats.reduce((all, chat) => all + chat.attributes['gen_ai.usage.input_tokens'], 0);
  const runs = spans.filter(({ name }) => name.startsWith('invoke_agent'));
  const ofRuns = runs.reduce((all, run) => all + run.attributes['gen_ai.usage.input_tokens'], 0);
  assert.ok(sum > 0);
  assert.equal(sum, ofRuns);
  assert.ok(!JSON.stringify(spans).includes('roses'), 'texts are exported only if asked for');
});

/** Posts a message as part of a trace. */
async function post(product, space, sender, text, traceparent) {
  const response = await fetch(`${product.base}/v1/spaces/${space.id}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${product.adminKey}`, traceparent },
    body: JSON.stringify({ text, senderId: sender.id }),
  });
  assert.equal(response.status, 201);
}

test('a run belongs to the trace of the request that triggered it', async (t) => {
  const variables = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' };
  const { collector, product, husam, garden } = await scene(t, variables);
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  // A client that does not record its trace wants nothing recorded.
  await post(product, garden, husam, '@Weather?', `00-${'ab'.repeat(16)}-00f067aa0ba902b7-00`);
  await post(product, garden, husam, '@Weather, warm?', `00-${trace}-00f067aa0ba902b7-01`);
  const spans = await collector.spans(4);
  assert.ok(spans.every((span) => span.trace === trace));
  const [run] = spans.filter(({ name }) => name === 'invoke_agent Weather');
  assert.equal(run.parent, '00f067aa0ba902b7');
  const call = spans.find(({ name }) => name === 'execute_tool send_message');
  const input = JSON.parse(call.attributes['gen_ai.tool.call.arguments']);
  assert.deepEqual(input, { text: 'It is warm.' });
  const chat = spans.find(({ name }) => name.startsWith('chat'));
  assert.match(chat.attributes['gen_ai.input.messages'], /warm\?/);
});

test('a run that waited for another one keeps the trace of its own message', async (t) => {
  const { collector, product, api, husam, weather, garden } = await scene(t);
  const yard = await api.createSpace('Yard', [husam, weather], { triggerPolicy: 'mention' });
  await api.change(weather.id, { agent: { concurrency: { mode: 'queue', maxRuns: 1 } } });
  const traces = new Map([
    [garden.id, 'a'.repeat(32)],
    [yard.id, 'b'.repeat(32)],
  ]);
  const ask = (space) =>
    post(product, space, husam, '@Weather?', `00-${traces.get(space.id)}-00f067aa0ba902b7-01`);
  await Promise.all([garden, yard, garden, yard].map(ask));
  const runs = (await collector.spans(16)).filter(({ name }) => name === 'invoke_agent Weather');
  assert.equal(runs.length, 4);
  for (const { trace, attributes } of runs)
    assert.equal(trace, traces.get(attributes['gen_ai.conversation.id']));
});
