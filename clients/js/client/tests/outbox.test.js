// Sends of which another tab knows too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStorage } from './model/network.js';
import { SARAH, deferred, openRoom } from './model/room.js';

const pending = (room) =>
  room.space.timeline.getSnapshot().items.flatMap(({ send }) => (send ? [send] : []));
const posts = (room) => room.calls.filter((call) => call === 'POST /v1/spaces/s/messages').length;

const isPost = ({ method, path }) => method === 'POST' && path.endsWith('/messages');

/** Two tabs of one person, which both show a send that has the state. */
async function twoTabs(status) {
  const storage = memoryStorage();
  const refuse = (each) => (isPost(each) ? { status, body: {} } : null);
  const open = () => openRoom(1, { storage, me: SARAH, respond: refuse });
  const one = await open();
  one.space.send('hello').catch(() => {});
  await one.clock.advance(100);
  const other = await open();
  await other.clock.advance(100);
  return [one, other, open];
}

test('a send that one tab discards is not sent by another', async () => {
  const [one, other, open] = await twoTabs(503);
  assert.deepEqual([pending(one).length, pending(other).length], [1, 1]);
  one.space.discard(pending(one)[0].key);
  other.calls.length = 0;
  await other.clock.advance(60_000);
  assert.deepEqual([posts(other), pending(other)], [0, []]);
  // Nor by a page that is opened later.
  const later = await open();
  await later.clock.advance(1000);
  assert.deepEqual([posts(later), pending(later)], [0, []]);
});

test('a failed send that one tab sends again is not sent again by another', async () => {
  const [one, other] = await twoTabs(422);
  assert.deepEqual([pending(one)[0].state, pending(other)[0].state], ['failed', 'failed']);
  one.space.resend(pending(one)[0].key);
  other.calls.length = 0;
  other.space.resend(pending(other)[0].key);
  await other.clock.advance(1000);
  assert.deepEqual([posts(other), pending(other)], [0, []]);
});

test('the mark of a discarded send is removed after a day', async () => {
  const storage = memoryStorage();
  const room = await openRoom(1, { storage });
  room.isDown = true;
  room.space.send('hello').catch(() => {});
  await room.clock.advance(1000);
  room.space.discard(pending(room)[0].key);
  assert.equal(storage.length, 1);
  await openRoom(1, { storage });
  assert.equal(storage.length, 1);
  const now = () => room.clock.now + 25 * 3_600_000;
  await openRoom(1, { storage, now });
  assert.equal(storage.length, 0);
});

test('the mark of a discarded send outlives an attempt that is under way', async () => {
  for (const status of [503, 422]) {
    const storage = memoryStorage();
    const refuse = (each) => isPost(each) && { status: 503, body: {} };
    const one = await openRoom(1, { storage, me: SARAH, respond: refuse });
    one.space.send('hello').catch(() => {});
    await one.clock.advance(100);
    const answer = deferred();
    const slow = (each) => isPost(each) && { status, body: answer.promise };
    const other = await openRoom(1, { storage, me: SARAH, respond: slow });
    one.space.discard(pending(one)[0].key);
    other.respond = () => null;
    other.calls.length = 0;
    answer.resolve({});
    await other.clock.advance(30_000);
    for (const { key } of pending(other)) other.space.resend(key);
    await other.clock.advance(30_000);
    assert.equal(posts(other), 0, `after ${status}`);
  }
});

test('a send that has not failed is not sent under another key', async () => {
  const room = await openRoom(1, { respond: (each) => isPost(each) && { status: 503, body: {} } });
  room.space.send('hello').catch(() => {});
  await room.clock.advance(10);
  const [{ key }] = pending(room);
  room.space.resend(key);
  assert.deepEqual(
    pending(room).map((send) => send.key),
    [key],
  );
});
