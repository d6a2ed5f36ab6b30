// Tasks of A2A: lists, questions that a text answers, subscriptions, histories, and what is left of
// refused messages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskState } from '@a2a-js/sdk';
import { answerRule, callRule, formTool } from '../api_client.js';
import {
  asked,
  call,
  clientOf,
  listed,
  openGarden,
  part,
  refusal,
  send,
  textOf,
} from './a2a_client.js';
import { OPENING, withoutWarnings } from './garden.js';
import { soon } from './waiting.js';

const idsOf = (tasks) => tasks.map(({ id }) => id);
const returnsAtOnce = (more = {}) => ({
  returnImmediately: true,
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
  ...more,
});

/** The states and the artifacts of a stream, with its first event. */
async function follow(stream) {
  const events = [];
  for await (const { payload } of stream) events.push(payload);
  const states = events
    .filter(({ $case }) => $case === 'statusUpdate')
    .map(({ value }) => value.status.state);
  return { first: events[0].value, states, events };
}

test('tasks of all contexts are listed, the last change first', async (t) => {
  withoutWarnings(t);
  const { client, garden, guide, sarah, product } = await openGarden(t);
  const waiting = await client.sendMessage(asked('Please order roses.'));
  const done = [];
  for (const text of ['When does it open?', 'And tomorrow?'])
    done.push(await client.sendMessage(asked(text)));
  done.push(await client.sendMessage(asked('And on Monday?', { contextId: garden.id })));
  const all = [...done.toReversed(), waiting];
  const list = await client.listTasks(listed());
  assert.deepEqual(idsOf(list.tasks), idsOf(all));
  assert.deepEqual([list.totalSize, list.nextPageToken], [4, '']);
  const times = list.tasks.map(({ status }) => status.timestamp);
  assert.deepEqual(times, times.toSorted().toReversed());
  // The answer changes the oldest task last.
  const to = { contextId: waiting.contextId, taskId: waiting.id };
  await client.sendMessage(asked('Approve', to));
  assert.equal((await client.listTasks(listed())).tasks[0].id, waiting.id);
  // Sarah is in one of the contexts.
  const stranger = await clientOf({ product }, guide, sarah);
  assert.deepEqual(idsOf((await stranger.listTasks(listed())).tasks), [done[2].id]);
});

test('a list is filtered before it is cut into pages', async (t) => {
  withoutWarnings(t);
  const scene = await openGarden(t);
  const { client, api } = scene;
  const first = await client.sendMessage(asked('When does it open?'));
  const { contextId } = first;
  const waiting = await client.sendMessage(asked('Please order roses.', { contextId }));
  const last = await client.sendMessage(asked('And tomorrow?', { contextId }));
  const filtered = (more) => client.listTasks(listed({ contextId, ...more }));
  const page = await filtered({ pageSize: 1, status: TaskState.TASK_STATE_COMPLETED });
  assert.deepEqual([idsOf(page.tasks), page.totalSize, page.pageSize], [[last.id], 2, 1]);
  const pageToken = page.nextPageToken;
  const rest = await filtered({ pageSize: 1, status: TaskState.TASK_STATE_COMPLETED, pageToken });
  assert.deepEqual([idsOf(rest.tasks), rest.nextPageToken], [[first.id], '']);
  const { tasks } = await filtered({ status: TaskState.TASK_STATE_INPUT_REQUIRED });
  assert.deepEqual(idsOf(tasks), [waiting.id]);
  const since = await filtered({ statusTimestampAfter: last.status.timestamp });
  assert.deepEqual(idsOf(since.tasks), [last.id]);
  const future = await filtered({ statusTimestampAfter: '2100-01-01T00:00:00Z' });
  assert.deepEqual([future.tasks, future.totalSize], [[], 0]);
  const other = await api.createSpace('Other', [scene.husam]);
  for (const unknown of [other.id, scene.secret.id, 'x'])
    assert.deepEqual((await client.listTasks(listed({ contextId: unknown }))).tasks, []);
  for (const wrong of [{ pageSize: 0 }, { pageSize: 101 }, { pageToken: 'x' }, { status: 'x' }])
    assert.equal(await refusal(scene, call('ListTasks', wrong)), -32602, JSON.stringify(wrong));
});

test('a list has artifacts and histories if it is asked for them', async (t) => {
  const scene = await openGarden(t);
  const { client } = scene;
  const { contextId } = await client.sendMessage(asked('When does it open?'));
  const list = async (more) => {
    const { result } = await send(scene, call('ListTasks', { contextId, ...more }));
    return result.tasks[0];
  };
  assert.deepEqual(Object.keys(await list({})).toSorted(), ['contextId', 'id', 'status']);
  const { artifacts, history } = await list({ includeArtifacts: true });
  assert.equal(artifacts[0].parts[0].text, OPENING);
  assert.equal(history, undefined);
  const long = await list({ historyLength: 5 });
  assert.equal(long.artifacts, undefined);
  assert.equal(long.history[0].parts[0].text, 'When does it open?');
});

test('a text answers buttons and forms with one text field', async (t) => {
  withoutWarnings(t);
  const scene = await openGarden(t);
  const { client, api } = scene;
  const waiting = await client.sendMessage(asked('Please order roses.'));
  assert.equal(waiting.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const to = { taskId: waiting.id };
  await assert.rejects(client.sendMessage(asked('Perhaps', to)), /"Approve", "Reject"/);
  const done = await client.sendMessage(asked('Reject', to));
  assert.equal(done.contextId, waiting.contextId);
  assert.deepEqual(done.artifacts.map(textOf), ['You chose: Reject']);

  const field = { type: 'string' };
  for (const [properties, text] of [
    [{ when: field }, 'At nine'],
    [{ when: field, who: field }, undefined],
  ]) {
    const resultSchema = { type: 'object', properties, required: ['when'] };
    const rules = [
      callRule('ask', { message: 'When?' }, 'Then {{result.when}}'),
      answerRule(OPENING),
    ];
    const tools = [formTool('ask', { resultSchema })];
    const planner = await api.createAgent('Planner', rules, 0, tools);
    await api.change(planner.id, { agent: { open: true } });
    const planning = await clientOf(scene, planner, scene.husam);
    const asks = await planning.sendMessage(asked('Please plan.'));
    const answer = planning.sendMessage(asked('At nine', { taskId: asks.id }));
    if (text) assert.deepEqual((await answer).artifacts.map(textOf), [`Then ${text}`]);
    else await assert.rejects(answer, /part with data/);
  }
});

test('a task that waits is followed until it goes on', async (t) => {
  withoutWarnings(t);
  const { client } = await openGarden(t);
  const waiting = await client.sendMessage(asked('Please order roses.'));
  const stream = client.resubscribeTask({ id: waiting.id, tenant: '' });
  const { value } = await stream.next();
  assert.equal(value.payload.value.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  // Another client answers.
  const followed = follow(stream);
  await client.sendMessage(asked('Approve', { taskId: waiting.id }));
  const { states, events } = await followed;
  assert.equal(states.at(-1), TaskState.TASK_STATE_COMPLETED);
  assert.ok(!states.includes(TaskState.TASK_STATE_INPUT_REQUIRED), `${states}`);
  const working = events.findIndex(
    ({ value }) => value.status?.state === TaskState.TASK_STATE_WORKING,
  );
  const text = events.findIndex(({ $case }) => $case === 'artifactUpdate');
  assert.ok(working < text, 'it works before it writes');
});

test('a subscription to a task that waits shows no work', async (t) => {
  withoutWarnings(t);
  const { client } = await openGarden(t);
  const waiting = await client.sendMessage(asked('Please order roses.'));
  const stream = client.resubscribeTask({ id: waiting.id, tenant: '' });
  await stream.next();
  const followed = follow(stream);
  await client.cancelTask({ id: waiting.id, tenant: '', metadata: undefined });
  const { states } = await followed;
  assert.deepEqual(states, [TaskState.TASK_STATE_CANCELED]);
});

test('a history has the messages of a task', async (t) => {
  withoutWarnings(t);
  const { client } = await openGarden(t);
  const request = asked('Please order roses.');
  const waiting = await client.sendMessage(request);
  // The question is in the status while it is open.
  assert.deepEqual(waiting.history.map(textOf), ['Please order roses.']);
  assert.equal(waiting.history[0].messageId, request.message.messageId);
  const done = await client.sendMessage(asked('Approve', { taskId: waiting.id }));
  const history = done.history.map(({ role, parts }) => [role, parts[0].content.value]);
  const [user, agent] = [1, 2];
  assert.deepEqual(history, [
    [user, 'Please order roses.'],
    [agent, 'Order 40 roses?'],
    [user, 'Approve'],
  ]);
  assert.deepEqual(done.history[2].parts[1].content.value, { choice: 'Approve' });
  const short = await client.getTask({ id: done.id, tenant: '', historyLength: 1 });
  assert.deepEqual(short.history, done.history.slice(-1));
  const none = await client.getTask({ id: done.id, tenant: '', historyLength: 0 });
  assert.deepEqual(none.history, []);
  const configuration = returnsAtOnce({ historyLength: 0 });
  const quiet = await client.sendMessage({ ...asked('Hello'), configuration });
  assert.deepEqual(quiet.history, []);
});

test('nothing is left of a refused message', async (t) => {
  const { client, api, guide } = await openGarden(t);
  const count = async () => (await api.spaces()).length;
  const before = await count();
  await api.change(guide.id, { agent: { paused: true } });
  const request = asked('When does it open?');
  for (const attempt of [1, 2])
    await assert.rejects(
      client.sendMessage(request),
      /not trigger the agent: paused/,
      `${attempt}`,
    );
  await assert.rejects(client.sendMessage(asked('Hello')), /paused/);
  await assert.rejects(client.sendMessage(asked('')), /1 to 32768/);
  const file = [part('raw', Buffer.from('no picture'), { mediaType: 'image/png' })];
  await assert.rejects(client.sendMessage(asked('', { parts: file })), /first bytes/);
  assert.equal(await count(), before);
  // The same message is posted once it would be answered, and then it has its task for good.
  await api.change(guide.id, { agent: { paused: false } });
  const task = await client.sendMessage(request);
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  await api.change(guide.id, { agent: { paused: true } });
  assert.equal((await client.sendMessage(request)).id, task.id);
  assert.equal(await count(), before + 1);
});

test('seven calls at once are answered', async (t) => {
  withoutWarnings(t);
  const { client } = await openGarden(t);
  const calls = Array.from({ length: 7 }, () => client.sendMessage(asked('When does it open?')));
  for (const task of await Promise.all(calls))
    assert.deepEqual(task.artifacts.map(textOf), [OPENING]);
});

test('a call over the limit is an error of the protocol', async (t) => {
  const scene = await openGarden(t, 5_000);
  const { client } = scene;
  const configuration = returnsAtOnce();
  const { id } = await client.sendMessage({ ...asked('When does it open?'), configuration });
  // The words come slowly, so the task works while the places are taken.
  const streams = Array.from({ length: 12 }, () => client.resubscribeTask({ id, tenant: '' }));
  await Promise.all(streams.map((stream) => stream.next()));
  const { status, error } = await send(scene, call('SubscribeToTask', { id }));
  assert.equal(status, 200);
  assert.equal(error.data[0].reason, 'RATE_LIMIT_EXCEEDED');
  assert.match(error.data[1].retryDelay, /^\d+s$/);
  // Other calls have room, and so has a wait once one has ended.
  assert.equal(await refusal(scene, call('GetTask', { id })), undefined);
  await client.cancelTask({ id, tenant: '', metadata: undefined });
  await Promise.all(streams.map((stream) => stream.return()));
  await soon(
    async () => (await refusal(scene, call('SubscribeToTask', { id }))) === -32004,
    () => 'the places stay taken',
  );
});
