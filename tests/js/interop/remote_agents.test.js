// Remote agents: the two examples, unmodified, and the LangGraph agent of the guide.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApiClient } from '../api_client.js';
import { startProduct } from '../product.js';
import { follow } from './live.js';
import {
  PYTHON_COMMAND,
  copyOf,
  exampleOf,
  startAgent,
  startRelay,
  typescriptCommand,
} from './remote.js';

const RANDOM = Buffer.from(crypto.getRandomValues(new Uint8Array(32)));
const SECRET = `whsec_${RANDOM.toString('base64')}`;
const GUIDE = new URL('../../../docs/guide/remote-agents.md', import.meta.url);
const QUESTION = 'When does the garden open on a \u{1f324}️ day?';
const LONG = Array.from({ length: 100 }, (_, index) => `word${index}`).join(' ');
const said = (text) => `Hello Husam, you said: ${text}`;

const EXAMPLES = {
  python: { program: 'agent.py', command: PYTHON_COMMAND },
  typescript: { program: 'agent.ts', command: typescriptCommand() },
};

/**
 * A person in a space with a remote agent: `{product, api, husam, remote, space, relay, agent,
 * ask}`. `command` runs the agent. `ask` posts a message and returns the id of the agent's run.
 */
async function scene(t, command) {
  const relay = await startRelay(t);
  const environment = { SMARTSPACE_SECRET_REMOTE_AGENT: SECRET, SMARTSPACE_TOOL_HOSTS: relay.host };
  const product = await startProduct({ environment });
  t.after(product.stop);
  const agent = await startAgent(t, command, SECRET);
  relay.to(agent);
  const api = new ApiClient(product);
  const husam = await api.createPerson('Husam');
  const runtime = { type: 'webhook', url: relay.url, secret: '${secret.REMOTE_AGENT}' };
  const body = { type: 'agent', name: 'Remote', agent: { runtime } };
  const remote = await api.request('POST', '/v1/entities', body);
  const space = await api.createSpace('Garden', [husam, remote]);
  const ask = async (text) => (await api.postMessage(space, husam, text)).dispatch[0].runId;
  return { product, api, husam, remote, space, relay, agent, ask };
}

async function startExample(t, language) {
  const { program, command } = EXAMPLES[language];
  return scene(t, [...command, join(await copyOf(t, language), program)]);
}

const isText = ({ type }) => type === 'stream.snapshot' || type === 'stream.delta';
const textsIn = (messages) => messages.map(({ parts }) => parts[0].text);

for (const language of Object.keys(EXAMPLES)) {
  const skip = EXAMPLES[language].command === null && 'npm has no Node for this machine';

  test(`the example in ${language} streams, posts and completes`, { skip }, async (t) => {
    const { product, api, husam, remote, space, relay, agent, ask } = await startExample(
      t,
      language,
    );
    const { frames, until } = await follow(t, product, husam, space);
    const runId = await ask(QUESTION);
    await until(isText);
    const [delivery] = relay.deliveries;
    assert.equal(delivery.headers['webhook-id'], runId);
    assert.equal(await relay.send(delivery), 204, 'it is repeated while the agent works');
    const run = await api.waitForRun(runId);
    assert.deepEqual([run.status, run.endReason, run.remote], ['completed', 'done', true]);

    const messages = await api.messages(space);
    assert.deepEqual(textsIn(messages), [QUESTION, said(QUESTION)]);
    const [, answer] = messages;
    assert.equal(answer.sender.id, remote.id);
    const { message } = await until(
      (frame) => frame.type === 'message.created' && frame.message.id === answer.id,
    );
    assert.deepEqual(message, answer);
    const before = frames.slice(
      0,
      frames.findIndex((frame) => frame.message?.id === answer.id),
    );
    const streamed = before.filter(isText);
    assert.ok(streamed.length > 2, `${streamed.length} pieces`);
    assert.ok(streamed.every(({ streamId }) => streamId === answer.streamId));
    const lengths = streamed.map(({ text }) => text.length);
    const isLonger = (length, index) => index === 0 || length > lengths[index - 1];
    assert.ok(lengths.every(isLonger), `somebody else writes, too: ${lengths}`);
    const last = streamed.at(-1).text;
    assert.ok(last !== '' && answer.parts[0].text.startsWith(last), last);

    assert.equal(await relay.send(delivery), 204, 'it is repeated when the run is over');
    await agent.kill();
    await agent.restart();
    assert.equal(await relay.send(delivery), 204, 'it is repeated when nobody remembers it');
    await agent.has(`${runId} is over`);
    assert.deepEqual(await api.messages(space), messages);
    const { steps } = await api.request('GET', `/v1/runs/${runId}`);
    assert.deepEqual(
      steps.map(({ calls }) => calls.map(({ name }) => name)),
      [['send_message']],
    );
  });

  test(`the example in ${language} stops when its run is canceled`, { skip }, async (t) => {
    const { product, api, husam, space, agent, ask } = await startExample(t, language);
    const { until } = await follow(t, product, husam, space);
    const runId = await ask(LONG);
    await until(isText);
    await api.request('POST', `/v1/runs/${runId}/cancel`);
    await agent.has(`${runId} is over`);
    assert.equal((await api.waitForRun(runId)).status, 'canceled');
    assert.ok(!textsIn(await api.messages(space)).includes(said(LONG)));
  });

  test(`the example in ${language} takes a delivery again after a restart`, { skip }, async (t) => {
    const { product, api, husam, space, relay, agent, ask } = await startExample(t, language);
    const { until } = await follow(t, product, husam, space);
    const runId = await ask(QUESTION);
    await until(isText);
    await agent.kill();
    await agent.restart();
    assert.equal(await relay.send(relay.deliveries[0]), 204);
    assert.equal((await api.waitForRun(runId)).status, 'completed');
    assert.deepEqual(textsIn(await api.messages(space)), [QUESTION, said(QUESTION)]);
  });

  test(`the example in ${language} takes nothing that is not signed`, { skip }, async (t) => {
    const { api, space, relay, ask } = await startExample(t, language);
    await api.waitForRun(await ask(QUESTION));
    const [{ headers, body }] = relay.deliveries;
    const forged = body.toString().replaceAll('garden', 'safe');
    const statuses = [];
    for (const delivery of [
      { headers, body: forged },
      { headers: { ...headers, 'webhook-id': 'run_01KHRMMJH0000000000000000H' }, body },
      { headers: { ...headers, 'webhook-signature': 'nonsense' }, body },
      { headers: {}, body },
    ])
      statuses.push(await relay.send(delivery));
    assert.deepEqual(statuses, [401, 401, 401, 401]);
    assert.equal((await api.messages(space)).length, 2);
  });
}

test('the LangGraph agent of the guide answers in a space', async (t) => {
  const section = /^## LangGraph$[^]*?^```python\n([^]*?)^```$/m.exec(
    await readFile(GUIDE, 'utf8'),
  );
  const folder = await copyOf(t, 'python', { 'langgraph_agent.py': section[1] });
  const program = join(folder, 'langgraph_agent.py');
  const { product, api, husam, space, ask } = await scene(t, [...PYTHON_COMMAND, program]);
  const { frames, until } = await follow(t, product, husam, space);
  const OPENING = 'The garden opens at nine.';
  for (const text of [QUESTION, 'Really?']) {
    const run = await api.waitForRun(await ask(text));
    assert.deepEqual([run.status, run.error], ['completed', null]);
  }
  assert.deepEqual(textsIn(await api.messages(space)), [QUESTION, OPENING, 'Really?', OPENING]);
  await until(({ message }) => message?.seq === 4);
  assert.ok(frames.filter(isText).length >= 2);
});

test('the examples and the guide pin what this suite has', async () => {
  const read = (path) => readFile(new URL(path, import.meta.url), 'utf8');
  // A line with more of the same package after it ends with a backslash.
  const lines = (await read('../../requirements.txt')).split('\n');
  const requirements = lines.map((line) => line.replace(/ \\$/, ''));
  const ofPython = await readFile(join(exampleOf('python'), 'requirements.txt'), 'utf8');
  const inGuide = /pip install (langgraph==\S+)/.exec(await readFile(GUIDE, 'utf8'))[1];
  for (const pin of [...ofPython.trim().split('\n'), inGuide])
    assert.ok(requirements.includes(pin), pin);
  const { devDependencies } = JSON.parse(await read('../package.json'));
  const ofNode = JSON.parse(await readFile(join(exampleOf('typescript'), 'package.json'), 'utf8'));
  for (const [name, version] of Object.entries(ofNode.dependencies))
    assert.equal(devDependencies[name], version, name);
});
