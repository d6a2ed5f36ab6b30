// The connection at its edges: servers that say goodbye, refuse, or send what is no frame.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRoom } from './model/room.js';

const state = (room) => room.client.connection.getSnapshot();
const goodbye = { type: 'goodbye', code: 1012, reason: 'restart' };

test('the first goodbye of a restart leads to a new connection at once', async () => {
  const room = await openRoom(1);
  await room.clock.advance(10_000);
  room.frames(goodbye);
  await room.clock.advance(50);
  assert.deepEqual([state(room).state, room.connects], ['live', 2]);
});

test('a server that says goodbye again and again is not asked without a pause', async () => {
  const room = await openRoom(1);
  await room.clock.advance(10_000);
  for (let time = 0; time < 60_000; time += 10) {
    if (state(room).state === 'live') room.frames(goodbye);
    await room.clock.advance(10);
  }
  assert.ok(room.connects < 60, `${room.connects} connections in a minute`);
});

test('a subscription refused as invalid is repeated without its number, but seldom', async () => {
  const room = await openRoom(1);
  const subscribes = () => room.sent.filter(({ action }) => action === 'subscribe');
  room.sent.length = 0;
  room.onSubscribe = ({ id }) => ({ type: 'error', id, status: 422, title: 'Invalid' });
  room.frames({ type: 'goodbye', code: 1012 });
  await room.clock.advance(20_000);
  const [first, ...later] = subscribes();
  assert.ok(first.n > 0 && later.every(({ n }) => n === undefined));
  assert.ok(later.length > 0 && later.length < 4, `${later.length} more in 20 s`);
  room.onSubscribe = undefined;
  await room.clock.advance(30_000);
  assert.equal(state(room).state, 'live');
});

test('a subscription whose answer is lost is asked for again', async () => {
  const room = await openRoom(1);
  room.onSubscribe = () => null;
  room.frames({ type: 'goodbye', code: 1012 });
  await room.clock.advance(1000);
  assert.equal(state(room).state, 'stalled');
  room.onSubscribe = undefined;
  room.sent.length = 0;
  await room.clock.advance(5000);
  assert.equal(state(room).state, 'live');
  assert.equal(room.connects, 2, 'it needed another connection');
});

test('what is no frame is ignored', async () => {
  const room = await openRoom(1);
  for (const data of ['null', '7', '"text"', '[]', '{}', '{"type": 7}', 'no JSON', ''])
    room.raw(data);
  room.frames({ type: 'unheard.of', spaceId: 's' });
  assert.equal(state(room).state, 'live');
  assert.deepEqual(room.texts(), ['text 1']);
});

test('a runtime without WebSocket has a closed connection and the reason', async () => {
  const room = await openRoom(1, { WebSocket: undefined });
  assert.equal(state(room).state, 'closed');
  assert.match(state(room).error.message, /no WebSocket; pass one to createClient/);
});

test('a timer that is longer than the platform can wait does not fire at once', async () => {
  const room = await openRoom(1);
  const at = new Date(room.clock.now).toISOString();
  const until = new Date(room.clock.now + 90 * 86_400_000).toISOString();
  room.frames({
    type: 'presence',
    at,
    present: [{ entityId: 'ada', since: at, until }],
    typing: [],
  });
  const { count } = room.clock;
  await room.clock.advance(100);
  assert.ok(room.clock.count - count < 5, `${room.clock.count - count} timers`);
});

test('a later outage is as short as the first one', async () => {
  let signal;
  const listen = (act) => {
    signal = act;
    return () => {};
  };
  const restart = async (room) => {
    await room.clock.advance(3_600_000);
    room.frames(goodbye);
    await room.clock.advance(50);
    assert.equal(state(room).state, 'live');
  };
  const room = await openRoom(1, { listen });
  await room.clock.advance(10_000);
  signal('offline');
  await room.clock.advance(5000);
  signal('online');
  await restart(room);
  // The connection is ended while it is lost, and begun again much later.
  room.isDown = true;
  room.frames(goodbye);
  await room.clock.advance(100);
  room.leave();
  await room.clock.advance(3_600_000);
  room.isDown = false;
  room.enter();
  await room.clock.advance(5000);
  await restart(room);
});

test('a server that does not know the numbers of subscriptions delays none of them', async () => {
  const room = await openRoom(1);
  const other = room.client.space('other');
  other.timeline.subscribe(() => {});
  await room.clock.advance(1000);
  room.onSubscribe = ({ id, spaceId, n }) =>
    n === undefined
      ? { type: 'subscribed', id, spaceId, seq: 1, from: null, active: [] }
      : { type: 'error', spaceId: undefined, id, status: 422, title: 'Invalid' };
  room.frames({ type: 'goodbye', code: 1012 });
  await room.clock.advance(3000);
  assert.deepEqual([state(room).state, room.connects], ['live', 2]);
});

test('a subscription that is always refused as invalid delays no other one', async () => {
  const room = await openRoom(1);
  room.client.space('other').timeline.subscribe(() => {});
  await room.clock.advance(1000);
  room.onSubscribe = ({ id, spaceId }) =>
    spaceId === 's'
      ? { type: 'subscribed', id, spaceId, seq: 1, from: null, active: [] }
      : { type: 'error', spaceId: undefined, id, status: 422, title: 'Invalid' };
  room.frames({ type: 'goodbye', code: 1012 });
  await room.clock.advance(3000);
  assert.equal(state(room).state, 'live');
  await room.clock.advance(60_000);
  assert.equal(room.connects, 2);
});
