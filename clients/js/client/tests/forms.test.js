// Open forms when frames and answers come in another order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './model/frames.js';
import { SARAH, deferred, message, openRoom } from './model/room.js';

const card = { type: 'tool', name: 'approve', input: {}, ui: 'form', answerBy: 'humans' };
const request = {
  ...card,
  type: 'tool.requested',
  runId: 'r1',
  callId: 'c1',
  messageId: 'm2',
  status: 'pending',
};
const resolution = { ...request, type: 'tool.resolved', status: 'completed' };
const forms = (room) => room.space.forms.getSnapshot().forms.map(({ callId }) => callId);

test('a form stays closed if the frame that opened it comes later', async () => {
  const room = await openRoom(1, { me: SARAH });
  room.frames(request);
  assert.deepEqual(forms(room), ['c1']);
  room.frames(resolution);
  assert.deepEqual(forms(room), []);
  room.frames(request);
  assert.deepEqual(forms(room), []);
});

test('a form stays closed if it was read as open before it was closed', async () => {
  const room = await openRoom(60, { me: SARAH });
  const part = { ...card, callId: 'c1', status: 'pending' };
  const older = message(1, '', { runId: 'r1', parts: [part] });
  const page = deferred();
  const respond = ({ path }) =>
    path.includes('before=11&limit=200') ? { status: 200, body: page.promise } : null;
  room.respond = respond;
  room.runs = [run('r1', 'waiting_tool', { finishedAt: null }).run];
  const active = [{ runId: 'r1', agentId: 'ada', status: 'waiting_tool' }];
  room.frames({ type: 'subscribed', seq: 60, from: null, active });
  await room.clock.advance(100);
  room.frames({ ...resolution, messageId: 'm1' });
  page.resolve({ items: [older] });
  await room.clock.advance(100);
  assert.deepEqual(forms(room), []);
});

test('a call that waits for the page of a member is no form', async () => {
  const room = await openRoom(60, { me: SARAH });
  const form = { ...card, callId: 'c1', status: 'pending' };
  const call = { ...form, callId: 'c2', ui: null, answerBy: null, pageOf: SARAH.entity.id };
  [form, call].forEach((part, at) => {
    room.stored[at] = { ...room.stored[at], runId: 'r1', parts: [part] };
  });
  room.runs = [run('r1', 'waiting_tool', { finishedAt: null }).run];
  const active = [{ runId: 'r1', agentId: 'ada', status: 'waiting_tool' }];
  room.frames({ type: 'subscribed', seq: 60, from: null, active });
  await room.clock.advance(100);
  assert.deepEqual(forms(room), ['c1']);
});

test('a form that is open is found among older messages', async () => {
  const room = await openRoom(60, { me: SARAH });
  const part = { ...card, callId: 'c1', status: 'pending' };
  const [first] = room.stored;
  room.stored[0] = { ...first, runId: 'r1', parts: [part] };
  room.runs = [run('r1', 'waiting_tool', { finishedAt: null }).run];
  const active = [{ runId: 'r1', agentId: 'ada', status: 'waiting_tool' }];
  room.frames({ type: 'subscribed', seq: 60, from: null, active });
  await room.clock.advance(100);
  assert.deepEqual(forms(room), ['c1']);
});

test('a form that was closed during a refresh stays closed after a reconnect', async () => {
  const part = (status) => [
    { type: 'tool', callId: 'c1', name: 'ask', input: {}, status, answerBy: 'humans' },
  ];
  const formIn = (status) => message(1, '', { parts: part(status), runId: 'r1', rev: 1 });
  const late = deferred();
  let hold = false;
  const r = await openRoom(120, {});
  r.stored[0] = formIn('pending');
  const active = [{ runId: 'r1', agentId: 'ada', status: 'waiting_tool' }];
  r.onSubscribe = ({ action, id }) =>
    action === 'subscribe' && { type: 'subscribed', id, seq: 120, from: null, active };
  r.respond = ({ path }) => {
    if (hold && path.includes('/messages?before=')) {
      hold = false;
      return { status: 200, body: late.promise };
    }
    return null;
  };
  const show = () => r.space.forms.getSnapshot().forms.map((f) => f.callId);
  r.space.forms.subscribe(() => show());
  hold = true;
  r.sockets.at(-1).onclose();
  await r.clock.advance(2000);
  // refresh waits for `late`. The form is closed, then the socket is lost and found.
  r.frames({ type: 'tool.resolved', callId: 'c1', runId: 'r1', messageId: 'm1' });
  r.stored[0] = formIn('completed');
  r.sockets.at(-1).onclose();
  await r.clock.advance(2000);
  late.resolve({ items: [formIn('pending')] });
  await r.clock.advance(5000);
  assert.deepEqual(show(), []);
});
