// The clients of the A2A SDKs for JavaScript and Python, unmodified.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TaskState } from '@a2a-js/sdk';
import { tokenOf } from '../api_client.js';
import { asked, call, clientOf, openGarden, part, refusal, textOf } from './a2a_client.js';
import { NOTE, OPENING, asksFirst, startGarden, withoutWarnings } from './garden.js';
import { PYTHON_COMMAND } from './remote.js';

const WORD_MS = 60;

const data = (value) => [part('data', value)];

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
  const { headers } = await cardOf(guide);
  assert.match(headers.get('cache-control'), /^private, max-age=\d+$/);
  const again = { ...bearer, 'if-none-match': headers.get('etag') };
  assert.equal((await cardOf(guide, again)).status, 304);
  assert.equal((await cardOf(guide, {})).status, 401);
  assert.equal((await cardOf(weather)).status, 404);
  assert.equal((await cardOf(husam)).status, 404);
  assert.equal((await cardOf({ id: 'nonsense' })).status, 404);
  const admin = { authorization: `Bearer ${product.adminKey}` };
  assert.equal((await cardOf(guide, admin)).status, 403);
});

test('a message makes a context and is answered', async (t) => {
  withoutWarnings(t);
  const { api, client, guide, husam } = await openGarden(t);
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
  const { client, garden, api } = await openGarden(t, WORD_MS);
  const events = [];
  // The space wakes whom a message mentions.
  const request = asked('When does it open?', { contextId: garden.id });
  for await (const { payload } of client.sendMessageStream(request)) events.push(payload);
  assert.equal(events[0].$case, 'task');
  const states = events
    .filter(({ $case }) => $case !== 'artifactUpdate')
    .map(({ value }) => value.status.state)
    // The agent may have begun before the task is written.
    .filter((state) => state !== TaskState.TASK_STATE_SUBMITTED);
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
  const { api, client } = await openGarden(t);
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
  const garden = await openGarden(t);
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
  const { client } = await openGarden(t, 400);
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
  const scene = await openGarden(t);
  const { product, client, sarah, garden, secret, guide } = scene;
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
  const file = [part('url', 'http://x')];
  await assert.rejects(client.sendMessage(asked('', { parts: file })), /expected the file itself/);
  const get = call('GetTask', { id: mine.id });
  for (const [wrong, code] of [
    [get, undefined],
    ['{', -32700],
    [{ id: 1 }, -32600],
    [{ ...get, id: {} }, -32600],
    [call('Sing', {}), -32601],
    [call('GetTask', {}), -32602],
    [call('GetTask', [mine.id]), -32602],
    [call('GetTask', { id: mine.id, historyLength: -1 }), -32602],
    [call('GetTask', { id: 'x' }), -32001],
    [call('CancelTask', { id: mine.id }), -32002],
    [call('CreateTaskPushNotificationConfig', {}), -32003],
    [call('GetExtendedAgentCard', {}), -32004],
    [call('SubscribeToTask', { id: mine.id }), -32004],
  ])
    assert.equal(await refusal(scene, wrong), code, JSON.stringify(wrong));
});

test('a message of another shape is refused', async (t) => {
  const scene = await openGarden(t);
  const spaces = (await scene.api.spaces()).length;
  const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
  const to = (more, configuration) =>
    call('SendMessage', { message: { ...message, ...more }, configuration });
  const url = 'data:text/plain;base64,SGk=';
  for (const [wrong, code] of [
    [to({ role: 'ROLE_AGENT' }), -32602],
    [to({ role: undefined }), -32602],
    [to({ messageId: '' }), -32602],
    [to({ parts: [] }), -32602],
    [to({ parts: [{ text: '' }] }), -32602],
    [to({ parts: [{ data: null }] }), -32602],
    [to({ parts: [{ text: 'Hello', url }] }), -32602],
    [to({ parts: [{ raw: 'SGk=', mediaType: 'application/x-unknown' }] }), -32005],
    [call('SendMessage', { message: ['1'] }), -32602],
    [to({}, { taskPushNotificationConfig: { url: 'https://a.example' } }), -32003],
  ])
    assert.equal(await refusal(scene, wrong), code, JSON.stringify(wrong));
  assert.equal((await scene.api.spaces()).length, spaces);
});

test('a client says that it speaks version 1.0', async (t) => {
  const scene = await openGarden(t);
  const list = call('ListTasks');
  for (const [version, code] of [
    ['1.0', undefined],
    ['1.0.1', undefined],
    ['', -32009],
    ['0.3', -32009],
    ['2.0', -32009],
  ])
    assert.equal(await refusal(scene, list, { headers: { 'a2a-version': version } }), code);
  const headers = { 'a2a-version': null };
  const path = 'a2a?A2A-Version=1.0';
  assert.equal(await refusal(scene, list, { path, headers }), undefined);
  assert.equal(await refusal(scene, list, { path: 'a2a/' }), undefined);
});

test('the client of Python asks, is asked, and answers', async (t) => {
  const { product, guide, husam } = await openGarden(t);
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
  assert.deepEqual(seen.history, ['Please order roses.', 'Order 40 roses?', 'Approve']);
  const [first, ...followed] = seen.followed;
  assert.equal(first, 'TASK_STATE_INPUT_REQUIRED');
  assert.equal(followed.at(-1), 'TASK_STATE_COMPLETED');
  assert.ok(!followed.includes(first), `${followed}`);
  assert.deepEqual(seen.lists, { pages: [2, 1, 3, ''], artifacts: [1] });
  assert.deepEqual([seen.unknown, seen.badPage], ['TaskNotFoundError', 'InvalidParamsError']);
});
