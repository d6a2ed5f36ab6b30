// The clients of the A2A SDKs for JavaScript and Python, unmodified.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { Role, TaskState } from '@a2a-js/sdk';
import { tokenOf } from '../api_client.js';
import { NOTE, OPENING, asksFirst, startGarden, withoutWarnings } from './garden.js';
import { PYTHON_COMMAND } from './remote.js';

const WORD_MS = 60;

/** A garden whose Guide is open, and a client of the Guide with Husam's token. */
async function scene(t, wordDelayMs) {
  const garden = await startGarden(t, wordDelayMs);
  await garden.api.change(garden.guide.id, { agent: { open: true } });
  const client = await clientOf(garden, garden.guide, garden.husam);
  return { ...garden, client };
}

/** A client of an agent with a person's token. */
function clientOf({ product }, agent, person) {
  const authorization = `Bearer ${tokenOf(person, product.jwtSecret)}`;
  const fetchImpl = (url, init = {}) =>
    fetch(url, { ...init, headers: { ...init.headers, authorization } });
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  );
  return factory.createFromUrl(
    `${product.base}/v1/agents/${agent.id}/`,
    '.well-known/agent-card.json',
  );
}

let count = 0;
const asked = (text, more = {}) => ({
  message: {
    messageId: `message-${++count}`,
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  },
  tenant: '',
  configuration: undefined,
  metadata: undefined,
});

const data = (value) => [
  { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: '' },
];
const textOf = ({ parts }) => parts.map(({ content }) => content.value).join('');

test('a card says what an open agent is, to whom has a token', async (t) => {
  const { product, api, husam, guide, weather, bearer } = await startGarden(t);
  const cardOf = (agent, headers = bearer) =>
    fetch(`${product.base}/v1/agents/${agent.id}/.well-known/agent-card.json`, { headers });
  assert.equal((await cardOf(guide)).status, 404);
  await api.change(guide.id, { agent: { open: true } });
  const card = await (await cardOf(guide)).json();
  assert.equal(card.name, 'Guide');
  assert.deepEqual(card.supportedInterfaces, [
    {
      url: `${product.base}/v1/agents/${guide.id}/a2a`,
      protocolBinding: 'JSONRPC',
      protocolVersion: '1.0',
    },
  ]);
  assert.deepEqual(card.capabilities, {
    streaming: true,
    pushNotifications: false,
    extendedAgentCard: false,
  });
  assert.equal((await cardOf(guide, {})).status, 401);
  assert.equal((await cardOf(weather)).status, 404);
  assert.equal((await cardOf(husam)).status, 404);
  assert.equal((await cardOf({ id: 'nonsense' })).status, 404);
  const admin = { authorization: `Bearer ${product.adminKey}` };
  assert.equal((await cardOf(guide, admin)).status, 403);
});

test('a message makes a context and is answered', async (t) => {
  withoutWarnings(t);
  const { api, client, guide, husam } = await scene(t);
  const request = asked('When does it open?');
  const task = await client.sendMessage(request);
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.deepEqual(task.artifacts.map(textOf), [OPENING]);
  const space = await api.space({ id: task.contextId });
  assert.deepEqual(space.members.map(({ id }) => id).sort(), [husam.id, guide.id].sort());
  // The answer was lost on its way.
  const again = await client.sendMessage(request);
  assert.deepEqual([again.id, again.contextId], [task.id, task.contextId]);
  assert.equal((await api.messages(space)).length, 2);
  assert.deepEqual((await client.getTask({ id: task.id, tenant: '' })).artifacts, task.artifacts);

  const next = await client.sendMessage(asked('And tomorrow?', { contextId: task.contextId }));
  assert.equal(next.contextId, task.contextId);
  assert.notEqual(next.id, task.id);
  const list = { tenant: '', contextId: task.contextId, status: 0, pageToken: '' };
  const { tasks } = await client.listTasks(list);
  assert.deepEqual(
    tasks.map(({ id }) => id),
    [next.id, task.id],
  );
});

test('a task is streamed while it goes on', async (t) => {
  withoutWarnings(t);
  const { client, garden, api } = await scene(t, WORD_MS);
  const events = [];
  // The space wakes whom a message mentions.
  const request = asked('When does it open?', { contextId: garden.id });
  for await (const { payload } of client.sendMessageStream(request)) events.push(payload);
  assert.equal(events[0].$case, 'task');
  const states = events
    .filter(({ $case }) => $case === 'statusUpdate')
    .map(({ value }) => value.status.state);
  assert.deepEqual(states, [TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED]);
  const pieces = events.filter(({ $case }) => $case === 'artifactUpdate').map(({ value }) => value);
  assert.ok(pieces.length > 2);
  assert.deepEqual(
    pieces.map(({ append }) => append),
    pieces.map((_, index) => index > 0),
  );
  assert.equal(pieces.map(({ artifact }) => textOf(artifact)).join(''), OPENING);
  assert.equal(pieces.at(-1).lastChunk, true);
  const [question, answer] = await api.messages(garden);
  assert.equal(question.parts[0].text, '@Guide When does it open?');
  assert.equal(answer.parts[0].text, OPENING);
});

test('a form is answered by data', async (t) => {
  withoutWarnings(t);
  const { api, client } = await scene(t);
  const waiting = await client.sendMessage(asked('Please order roses.'));
  assert.equal(waiting.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const [question, form] = waiting.status.message.parts.map(({ content }) => content.value);
  assert.equal(question, 'Order 40 roses?');
  assert.deepEqual(form.resultSchema.required, ['choice']);
  const to = { contextId: waiting.contextId, taskId: waiting.id };
  await assert.rejects(client.sendMessage(asked('Yes!', to)), /part with data/);
  const wrong = asked('', { ...to, parts: data({ choice: 'Perhaps' }) });
  await assert.rejects(client.sendMessage(wrong), /choice/);
  const events = [];
  const answer = asked('', { ...to, parts: data({ choice: 'Approve' }) });
  for await (const { payload } of client.sendMessageStream(answer)) events.push(payload);
  assert.equal(events[0].value.id, waiting.id);
  assert.equal(events.at(-1).value.status.state, TaskState.TASK_STATE_COMPLETED);
  const done = await client.getTask({ id: waiting.id, tenant: '' });
  assert.deepEqual(done.artifacts.map(textOf), ['You chose: Approve']);
  assert.equal((await api.messages({ id: waiting.contextId })).length, 3);
  await assert.rejects(client.sendMessage(answer), /waits for no answer/);
});

test('a call that waits for approval is decided by data', async (t) => {
  withoutWarnings(t);
  const garden = await scene(t);
  const { client } = garden;
  await asksFirst(garden);
  const waiting = await client.sendMessage(asked('Please note the lilies.'));
  assert.equal(waiting.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const [question, card] = waiting.status.message.parts.map(({ content }) => content.value);
  const input = JSON.stringify(NOTE);
  assert.equal(question, `set_memories waits for approval. Its input: ${input}`);
  assert.deepEqual([card.ui, card.input, card.approval.state], ['approval', NOTE, 'open']);
  assert.deepEqual(card.resultSchema.required, ['action']);
  const to = { contextId: waiting.contextId, taskId: waiting.id };
  const wrong = asked('', { ...to, parts: data({ choice: 'Approve' }) });
  await assert.rejects(client.sendMessage(wrong), /action/);
  const [part] = data({ action: 'approve' });
  const parts = [{ ...part, metadata: { callId: card.callId } }];
  const done = await client.sendMessage(asked('', { ...to, parts }));
  assert.equal(done.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.deepEqual(done.artifacts.map(textOf), ['Noted.']);
});

test('a task is subscribed to and canceled', async (t) => {
  withoutWarnings(t);
  const { client } = await scene(t, 400);
  const configuration = {
    returnImmediately: true,
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
  };
  const begun = await client.sendMessage({ ...asked('When does it open?'), configuration });
  assert.ok(begun.status.state < TaskState.TASK_STATE_COMPLETED);
  const events = [];
  let isCanceled = false;
  for await (const { payload } of client.resubscribeTask({ id: begun.id, tenant: '' })) {
    events.push(payload);
    if (payload.$case === 'artifactUpdate' && !isCanceled) {
      isCanceled = true;
      const canceled = await client.cancelTask({ id: begun.id, tenant: '', metadata: undefined });
      assert.equal(canceled.status.state, TaskState.TASK_STATE_CANCELED);
    }
  }
  assert.equal(events.at(-1).value.status.state, TaskState.TASK_STATE_CANCELED);
  await assert.rejects(
    client.cancelTask({ id: begun.id, tenant: '', metadata: undefined }),
    /has ended/,
  );
});

test('what cannot be is refused with an error of the protocol', async (t) => {
  const { product, client, sarah, garden, secret, guide, bearer } = await scene(t);
  const stranger = await clientOf({ product }, guide, sarah);
  await assert.rejects(
    client.sendMessage(asked('Hello', { contextId: secret.id })),
    /no such space/,
  );
  await assert.rejects(client.sendMessage(asked('Hello', { contextId: 'x' })), /no such space/);
  const mine = await client.sendMessage(asked('Hello'));
  await assert.rejects(stranger.getTask({ id: mine.id, tenant: '' }), /no such task/);
  await assert.rejects(client.getTask({ id: 'x', tenant: '' }), /no such task/);
  await assert.rejects(client.sendMessage(asked('', { contextId: garden.id })), /1 to 32768/);
  const file = [{ content: { $case: 'url', value: 'http://x' }, filename: '', mediaType: '' }];
  await assert.rejects(client.sendMessage(asked('', { parts: file })), /expected the file itself/);
  const send = async (body, headers = {}) => {
    const response = await fetch(`${product.base}/v1/agents/${guide.id}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return (await response.json()).error?.code;
  };
  const call = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: mine.id } };
  assert.equal(await send(call), undefined);
  assert.equal(await send('{'), -32700);
  assert.equal(await send({ id: 1 }), -32600);
  assert.equal(await send({ ...call, method: 'Sing' }), -32601);
  assert.equal(await send({ ...call, params: {} }), -32602);
  assert.equal(await send({ ...call, method: 'CreateTaskPushNotificationConfig' }), -32003);
  assert.equal(await send({ ...call, method: 'GetExtendedAgentCard' }), -32007);
  assert.equal(await send(call, { 'a2a-version': '0.3' }), -32009);
});

test('the client of Python asks, is asked, and answers', async (t) => {
  const { product, guide, husam } = await scene(t);
  const [python, ...flags] = PYTHON_COMMAND;
  const program = fileURLToPath(new URL('a2a_client.py', import.meta.url));
  const base = `${product.base}/v1/agents/${guide.id}/`;
  const token = tokenOf(husam, product.jwtSecret);
  const { stdout } = await promisify(execFile)(python, [...flags, program, base, token]);
  const seen = JSON.parse(stdout);
  const [last] = seen.asked[0].slice(-1);
  assert.deepEqual([last, seen.asked[1]], ['TASK_STATE_COMPLETED', OPENING]);
  assert.equal(seen.waited.at(-1), 'TASK_STATE_INPUT_REQUIRED');
  assert.equal(seen.answered[0].at(-1), 'TASK_STATE_COMPLETED');
  assert.equal(seen.answered[1], 'You chose: Approve');
  assert.equal(seen.done, 'TASK_STATE_COMPLETED');
});
