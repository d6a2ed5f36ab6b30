// The inbox when cards open and close, and what this client answers and decides.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SARAH, deferred, openRoom } from './model/room.js';

const item = (callId, more = {}) => ({
  id: `m-${callId}`,
  kind: 'approval',
  spaceId: 'far',
  spaceName: 'Far away',
  seq: 3,
  runId: 'r1',
  callId,
  agent: { id: 'ada', name: 'Ada' },
  tool: 'transfer',
  question: null,
  input: { amount: 600 },
  expiresAt: '2026-02-02T00:00:00Z',
  createdAt: '2026-02-01T00:00:00Z',
  ...more,
});

/** A room of Sarah in which these calls wait, and somebody looks at the inbox. */
async function openInbox(callIds, parts = {}) {
  const room = await openRoom(0, { me: SARAH, ...parts });
  room.waiting = callIds.map((callId) => item(callId));
  const { inbox } = room.client;
  inbox.subscribe(() => {});
  await room.clock.advance(100);
  room.calls.length = 0;
  return Object.assign(room, {
    shown: () => inbox.getSnapshot().items.map(({ callId }) => callId),
    reads: () => room.calls.filter((call) => call === 'GET /v1/inbox').length,
    // No test may play frames that are not recorded, except through here.
    hear: (frame) => room.raw(JSON.stringify({ spaceId: 'far', at: '', ...frame })),
  });
}

const isDecision = ({ path }) => path.endsWith('/decision');
const approvals = (given, needed) => ({ status: 202, body: { approvals: { given, needed } } });
const updated = (callId, state) => ({
  type: 'message.updated',
  message: {
    id: 'm',
    parts: [{ type: 'tool', callId, ui: 'approval', status: 'pending', approval: { state } }],
  },
});

test('the inbox has cards of spaces that nobody follows', async () => {
  const room = await openInbox(['a', 'b']);
  assert.deepEqual(room.shown(), ['a', 'b']);
  const { hasMore, isLoading, error } = room.client.inbox.getSnapshot();
  assert.deepEqual([hasMore, isLoading, error], [false, false, null]);
});

test('the inbox is read again after an event, a reconnect, and two minutes', async () => {
  const room = await openInbox(['a']);
  room.waiting.push(item('b'));
  // Several events at once need one call.
  for (let count = 0; count < 5; count += 1)
    room.hear({ type: 'inbox', callId: 'b', state: 'open' });
  await room.clock.advance(1000);
  assert.deepEqual([room.shown(), room.reads()], [['a', 'b'], 1]);

  room.waiting.push(item('c'));
  await room.clock.advance(118_000);
  assert.deepEqual(room.shown(), ['a', 'b']);
  await room.clock.advance(3000);
  assert.deepEqual([room.shown(), room.reads()], [['a', 'b', 'c'], 2]);

  room.waiting.push(item('d'));
  room.sockets.at(-1).onclose();
  await room.clock.advance(3000);
  assert.deepEqual(room.shown(), ['a', 'b', 'c', 'd']);
});

test('a hidden page does not read the inbox', async () => {
  let isHidden = false;
  const room = await openInbox(['a'], { isHidden: () => isHidden });
  isHidden = true;
  await room.clock.advance(600_000);
  assert.equal(room.reads(), 0);
  isHidden = false;
  await room.clock.advance(121_000);
  assert.equal(room.reads(), 1);
});

test('a card leaves when an event says that it waits no longer', async () => {
  const room = await openInbox(['a', 'b', 'c', 'd']);
  room.hear({ type: 'inbox', callId: 'a', state: 'closed' });
  room.hear({ type: 'tool.resolved', runId: 'r1', callId: 'b', messageId: 'm' });
  // An approved call has no result yet.
  room.hear(updated('c', 'approved'));
  room.hear(updated('d', 'open'));
  assert.deepEqual(room.shown(), ['d']);
  // A read that comes from before does not bring it back.
  room.client.inbox.more();
  await room.clock.advance(1000);
  assert.deepEqual(room.shown(), ['d']);
});

test('more pages are loaded on demand, and empty ones are passed over', async () => {
  const page = (count, nextCursor) => ({
    status: 200,
    body: { items: Array.from({ length: count }, (_, n) => item(`${nextCursor}${n}`)), nextCursor },
  });
  const pages = { '': page(50, 'p2'), p2: page(0, 'p3'), p3: page(20, null) };
  const asked = [];
  const respond = ({ path }) => {
    if (!path.startsWith('/v1/inbox')) return null;
    const cursor = new URL(path, 'http://server').searchParams.get('cursor') ?? '';
    asked.push(cursor);
    return pages[cursor];
  };
  const room = await openInbox([], { respond });
  const { inbox } = room.client;
  assert.deepEqual([room.shown().length, inbox.getSnapshot().hasMore], [50, true]);
  asked.length = 0;
  inbox.more();
  await room.clock.advance(100);
  assert.deepEqual([room.shown().length, inbox.getSnapshot().hasMore], [70, false]);
  assert.deepEqual(asked, ['', 'p2', 'p3']);
});

test('a decided call leaves at once, and comes back if the decision is refused', async () => {
  const answer = deferred();
  const sent = [];
  const room = await openInbox(['a', 'b'], {
    respond: (call) => {
      if (!isDecision(call)) return null;
      sent.push([call.path, JSON.parse(call.body)]);
      return { status: 422, body: answer.promise };
    },
  });
  const decision = { action: 'edit', input: { amount: 1 } };
  const decided = room.client.space('far').decide('a', decision, { senderId: 'olga' });
  assert.deepEqual(room.shown(), ['b']);
  const refused = assert.rejects(decided, { status: 422, message: /amount/ });
  answer.resolve({ status: 422, title: 'Invalid', detail: 'The amount is too low.' });
  await room.clock.advance(100);
  await refused;
  assert.deepEqual(room.shown(), ['a', 'b']);
  const path = '/v1/runs/r1/toolCalls/a/decision';
  assert.deepEqual(sent, [[path, { inputRevision: 0, ...decision, senderId: 'olga' }]]);
});

test('a read that began before the decision does not show the call again', async () => {
  const old = deferred();
  let isSlow = false;
  const room = await openInbox(['a'], {
    respond: (call) => {
      if (isDecision(call)) return approvals(1, 1);
      if (!isSlow || !call.path.startsWith('/v1/inbox')) return null;
      isSlow = false;
      return { status: 200, body: old.promise };
    },
  });
  isSlow = true;
  room.client.inbox.more();
  await room.clock.advance(10);
  assert.deepEqual(await room.client.space('far').decide('a', { action: 'approve' }), {
    given: 1,
    needed: 1,
  });
  old.resolve({ items: [item('a')], nextCursor: null });
  await room.clock.advance(10);
  assert.deepEqual(room.shown(), []);
});

test('a call that needs more approvals stays as long as the server lists it', async () => {
  const room = await openInbox(['a'], { respond: (call) => isDecision(call) && approvals(1, 2) });
  const { decide } = room.client.space('far');
  assert.deepEqual(await decide('a', { action: 'approve' }), { given: 1, needed: 2 });
  assert.deepEqual(room.shown(), ['a']);
  room.waiting = [];
  await room.clock.advance(200_000);
  assert.deepEqual(room.shown(), []);
});

test('one person declines for all', async () => {
  const room = await openInbox(['a'], { respond: (call) => isDecision(call) && approvals(0, 2) });
  room.waiting = [item('a')];
  await room.client.space('far').decide('a', { action: 'decline', text: 'too much' });
  await room.clock.advance(100);
  assert.deepEqual(room.shown(), []);
});

test('a decision without a network fails, and the call is shown again', async () => {
  const room = await openInbox(['a']);
  room.isDown = true;
  const failed = assert.rejects(room.client.space('far').decide('a', { action: 'approve' }), {
    isTemporary: true,
  });
  assert.deepEqual(room.shown(), []);
  await room.clock.advance(60_000);
  await failed;
  assert.deepEqual(room.shown(), ['a']);
});

test('a form of the inbox is answered without its space', async () => {
  const sent = [];
  const room = await openInbox(['a'], {
    respond: ({ method, path, body }) => {
      if (method !== 'POST' || !path.endsWith('/result')) return null;
      sent.push([path, JSON.parse(body)]);
      return { status: 202, body: { runId: 'r1', callId: 'a' } };
    },
  });
  await room.client.space('far').answer('a', { ok: true });
  assert.deepEqual(sent, [['/v1/runs/r1/toolCalls/a/result', { output: { ok: true } }]]);
  assert.deepEqual(room.shown(), []);
  await assert.rejects(room.client.space('far').answer('b', {}), /form b is not open/);
});
