// The client of MCP's conformance suite: an agent of ours. The suite starts this program with the
// address of its server as the last argument, and names the scenario in the environment.

import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '../api_client.js';
import { startProduct } from '../product.js';

const SERVER = process.argv.at(-1);
const PREFIX = 'suite__';
const DONE = 'Done.';
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const INPUTS = {
  add_numbers: { a: 5, b: 3 },
  valid_tool: { region: 'eu' },
};

const chunk = (delta, finish_reason = null) => ({
  id: 'answer',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});

/** The calls of the scenario, among the tools that the agent offers its model. */
function callsOf(tools) {
  const offered = tools
    .map((tool) => tool.function)
    .filter(({ name }) => name.startsWith(PREFIX))
    .map((tool) => ({ ...tool, name: tool.name.slice(PREFIX.length) }));
  const named = (name) => offered.find((tool) => tool.name === name);
  if (toolCalls) {
    // A value that is null is left out.
    const withoutNull = (input) => Object.entries(input).filter(([, value]) => value !== null);
    return toolCalls
      .filter(({ name }) => named(name))
      .map(({ name, arguments: input }) => [name, Object.fromEntries(withoutNull(input))]);
  }
  const rich = named('json_schema_2020_12_tool');
  if (rich) return [['json_schema_echo', { schema: rich.parameters }]];
  return offered.map(({ name }) => [name, INPUTS[name] ?? {}]);
}

function answerTo({ messages, tools = [] }) {
  const calls = messages.some(({ role }) => role === 'tool') ? [] : callsOf(tools);
  if (calls.length === 0) return [chunk({ role: 'assistant', content: DONE }), chunk({}, 'stop')];
  const deltas = calls.map(([name, input], index) => ({
    index,
    id: `call-${index}`,
    type: 'function',
    function: { name: PREFIX + name, arguments: JSON.stringify(input) },
  }));
  return [chunk({ role: 'assistant', tool_calls: deltas }), chunk({}, 'tool_calls')];
}

async function startModel() {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of answerTo(JSON.parse(body)))
      response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Answers the open forms among the messages. */
async function answerForms(api, person, messages) {
  for (const { parts, runId } of messages) {
    const form = parts.find(
      ({ type, status, ui }) => type === 'tool' && ui && status === 'pending',
    );
    if (!form) continue;
    await api.answer(person, runId, form.callId, { output: { confirmed: true } });
  }
}

async function play(product) {
  const api = new ApiClient(product);
  const person = await api.createPerson('Ada');
  const agent = await api.createModelAgent('Client', 'fake', 'fake', 'Call the tools.');
  const servers = [{ name: 'suite', url: SERVER }];
  await api.change(agent.id, { agent: { mcp: { servers } } });
  const space = await api.createSpace('Suite', [person, agent]);
  await api.postMessage(space, person, 'Go.');
  await api.waitFor(async () => {
    await answerForms(api, person, await api.messages(space));
    return (await api.runs(space)).some(({ finishedAt }) => finishedAt);
  });
}

const model = await startModel();
const folder = await mkdtemp(join(tmpdir(), 'smartspace-conformance-'));
const providers = join(folder, 'providers.json');
const fake = { api: 'openai', baseUrl: `http://127.0.0.1:${model.address().port}/v1` };
await writeFile(providers, JSON.stringify({ providers: { fake } }));
const environment = { SMARTSPACE_TOOL_HOSTS: 'localhost,127.0.0.1' };
const product = await startProduct('--providers', providers, { environment });
try {
  await play(product);
} finally {
  await product.stop();
  model.closeAllConnections();
  model.close();
  await rm(folder, { recursive: true });
}
