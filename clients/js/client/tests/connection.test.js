// The connection at its edges: servers that say goodbye, refuse, or send what is no frame.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROLL_OVER_MS } from '../dist/limits.js';
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

test('a subscription refused as invalid is repeated, but seldom', async () => {
  const room = await openRoom(1);
  const subscribes = () => room.sent.filter(({ action }) => action === 'subscribe');
  room.sent.length = 0;
  room.onSubscribe = ({ id }) => ({ type: 'error', id, status: 422, title: 'Invalid' });
  room.frames({ type: 'goodbye', code: 1012 });
  await room.clock.advance(20_000);
  assert.equal(subscribes().length, 1);
  room.onSubscribe = undefined;
  await room.clock.advance(30_000);
  const [first, second] = subscribes();
  assert.deepEqual([subscribes().length, second.n > first.n], [2, true]);
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
  room.raw('{"type": "unheard.of", "spaceId": "s"}');
  assert.equal(state(room).state, 'live');
  assert.deepEqual(room.texts(), ['text 1']);
});

test('a runtime without WebSocket has a closed connection and the reason', async () => {
  const room = await openRoom(1, { WebSocket: undefined });
  assert.equal(state(room).state, 'closed');
  assert.match(state(room).error.message, /^Pass a WebSocket to createClient/);
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

/** A room whose test says what the platform says of the network and the page. */
async function openListening(parts = {}) {
  let signal;
  const listen = (act) => {
    signal = act;
    return () => {};
  };
  const room = await openRoom(1, { listen, ...parts });
  return { room, signal: (event) => signal(event) };
}

test('a later outage is as short as the first one', async () => {
  const { room, signal } = await openListening();
  const restart = async (room) => {
    await room.clock.advance(3_600_000);
    room.frames(goodbye);
    await room.clock.advance(50);
    assert.equal(state(room).state, 'live');
  };
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

test('no change of the network shortens a pause that the server asked for', async () => {
  const { room, signal } = await openListening();
  room.frames({ ...goodbye, retryAfter: 60 });
  const { retryAt } = state(room);
  signal('offline');
  await room.clock.advance(1000);
  signal('online');
  await room.clock.advance(10_000);
  assert.deepEqual([state(room).retryAt, room.connects], [retryAt, 1]);
  await room.clock.advance(60_000);
  assert.deepEqual([state(room).state, room.connects], ['live', 2]);
});

test('the reason of a refusal stays without the network', async () => {
  const { room, signal } = await openListening();
  room.frames({ type: 'goodbye', code: 1000, reason: 'That is all.' });
  signal('offline');
  assert.deepEqual([state(room).state, state(room).error.message], ['closed', 'That is all.']);
});

const pings = (room) => room.sent.filter(({ action }) => action === 'ping');

test('an hour of an open page is fifteen pings with its presence, no other frame', async () => {
  const room = await openRoom(3);
  const sent = () => room.sent.splice(0);
  const ping = { action: 'ping', spaces: { s: 3 }, present: ['s'] };
  // The first one says that the new socket is present.
  assert.deepEqual(
    sent().filter(({ action }) => action !== 'subscribe'),
    [ping],
  );
  await room.clock.advance(3_600_000);
  assert.deepEqual(sent(), Array(15).fill(ping));
});

test('presence is renewed when the page is shown and when the network is back', async () => {
  let isHidden = true;
  const { room, signal } = await openListening({ isHidden: () => isHidden });
  await room.clock.advance(10_000);
  const pinged = () => pings(room).length;
  const before = pinged();
  signal('visibilitychange');
  assert.equal(pinged(), before);
  isHidden = false;
  signal('visibilitychange');
  assert.deepEqual([pinged(), pings(room).at(-1).present], [before + 1, ['s']]);
  await room.clock.advance(1000);
  signal('offline');
  signal('online');
  await room.clock.advance(1000);
  assert.deepEqual([pinged(), pings(room).at(-1).present], [before + 2, ['s']]);
});

test('a ping names as present only open spaces whose subscription is confirmed', async () => {
  const { room, signal } = await openListening();
  const present = () => {
    signal('visibilitychange');
    return pings(room).at(-1).present;
  };
  room.onSubscribe = () => null;
  room.client.space('slow').timeline.subscribe(() => {});
  await room.clock.advance(100);
  assert.deepEqual(present(), ['s']);
  await room.clock.advance(100);
  room.frames({ type: 'subscribed', spaceId: 'slow', seq: 1, from: null, active: [] });
  await room.clock.advance(100);
  assert.deepEqual(present(), ['s', 'slow']);
  await room.clock.advance(100);
  room.frames({ type: 'unsubscribed', spaceId: 's', reason: 'removed' });
  assert.deepEqual(present(), ['slow']);
});

test('the spaces of a ping are at most twenty', async () => {
  const { room, signal } = await openListening();
  room.onSubscribe = subscribed;
  const ids = Array.from({ length: 24 }, (_, index) => `s${index}`);
  for (const id of ids) room.client.space(id).timeline.subscribe(() => {});
  await room.clock.advance(20_000);
  room.sent.length = 0;
  signal('visibilitychange');
  const counts = pings(room).map(({ spaces, present }) => [
    Object.keys(spaces).length,
    present.length,
  ]);
  assert.deepEqual(counts, [
    [20, 20],
    [5, 5],
  ]);
});

test('a client that shows no presence names no space as present', async () => {
  const room = await openRoom(1, { presence: false });
  await room.clock.advance(240_000);
  assert.deepEqual(
    pings(room).map(({ present }) => present),
    [[], []],
  );
});

const subscribed = ({ id, spaceId }) => ({
  type: 'subscribed',
  id,
  spaceId,
  seq: 1,
  from: null,
  active: [],
});

const subscribesTo = (socket, spaceId) =>
  socket.sent.filter((frame) => frame.action === 'subscribe' && frame.spaceId === spaceId).length;

/**
 * A room whose connection moves to another socket, which gets no answer for its space. `answers`
 * says whether the other subscriptions on the first (0) and second (1) socket are answered.
 */
async function openMoving(answers = () => true) {
  const { room, signal } = await openListening();
  room.onSubscribe = (frame, socket) =>
    frame.spaceId !== 's' && answers(room.sockets.indexOf(socket)) ? subscribed(frame) : null;
  for (let time = 0; room.connects < 2; time += 10_000) {
    assert.ok(time < ROLL_OVER_MS);
    await room.clock.advance(10_000);
  }
  await room.clock.advance(10);
  const [old, next] = room.sockets;
  return { room, signal, old, next };
}

test('while the socket is replaced, each of the two repeats its own subscriptions', async () => {
  const { room, old, next } = await openMoving((index) => index === 1);
  room.client.space('other').timeline.subscribe(() => {});
  await room.clock.advance(6000);
  assert.deepEqual([subscribesTo(old, 'other'), subscribesTo(next, 'other')], [2, 1]);
});

test('while the socket is replaced, the present one follows further spaces', async () => {
  const { room, old } = await openMoving();
  const trigger = { type: 'space_message', spaceId: 'far' };
  const body = { id: 'r1', status: 'running', finishedAt: null, trigger };
  room.respond = ({ path }) => (path === '/v1/runs/r1' ? { status: 200, body } : null);
  room.client.run('r1').subscribe(() => {});
  await room.clock.advance(1000);
  assert.equal(subscribesTo(old, 'far'), 1);
});

test('frames of the next socket do not show that the present one is alive', async () => {
  const { room, signal, old, next } = await openMoving();
  room.onPing = (socket) => socket !== old;
  signal('visibilitychange');
  for (let count = 0; count < 4; count += 1) {
    await room.clock.advance(1000);
    next.onmessage({ data: '{"type": "unheard.of"}' });
  }
  assert.equal(state(room).state, 'stalled');
});

test('the answer to an unsubscription confirms no later subscription', async () => {
  const room = await openRoom(1);
  const { timeline } = room.client.space('other');
  const stop = timeline.subscribe(() => {});
  await room.clock.advance(100);
  stop();
  await room.clock.advance(2000);
  room.onSubscribe = () => null;
  timeline.subscribe(() => {});
  await room.clock.advance(100);
  room.frames({ type: 'unsubscribed', spaceId: 'other' });
  room.onSubscribe = subscribed;
  await room.clock.advance(6000);
  assert.equal(subscribesTo(room.sockets[0], 'other'), 3);
});

test('a space that the caller joins is subscribed to over the socket that says so', async () => {
  const room = await openRoom(1);
  room.client.space('other').timeline.subscribe(() => {});
  await room.clock.advance(1000);
  room.onSubscribe = (frame) =>
    frame.spaceId === 's' ? null : { type: 'error', id: frame.id, status: 403, title: 'No' };
  room.frames(goodbye);
  await room.clock.advance(1000);
  room.frames({ type: 'space.joined', spaceId: 'other', space: { id: 'other', members: [] } });
  await room.clock.advance(10);
  assert.equal(subscribesTo(room.sockets[1], 'other'), 2);
});

test('a connection that follows no space pings often enough to stay open', async () => {
  const room = await openRoom(1);
  room.leave();
  room.client.connection.subscribe(() => {});
  await room.clock.advance(5000);
  room.sent.length = 0;
  await room.clock.advance(120_000);
  const empty = { action: 'ping', spaces: {}, present: [] };
  assert.deepEqual([pings(room).length >= 2, room.sent[0]], [true, empty]);
});
