// The messages and streams of a room when frames come late, twice, in another order or never.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begin, created, run } from './model/frames.js';
import { message, openRoom } from './model/room.js';

test('messages may arrive out of order, twice and in older revisions', async () => {
  const room = await openRoom(1);
  room.store(message(2, 'two'), message(3, 'three'));
  room.frames({ type: 'message.updated', message: message(3, 'three, decided', { rev: 2 }) });
  room.frames(created(3, 'three'), created(2, 'two'));
  room.frames(created(2, 'two'), { ...created(4, 'four'), spaceId: 'elsewhere' });
  assert.deepEqual(room.texts(), ['text 1', 'two', 'three, decided']);
});

test('a gap is fetched after a delay', async () => {
  const room = await openRoom(1);
  room.store(message(2, 'two'), message(3, 'three'), message(4, 'four'));
  room.frames(created(4, 'four'));
  assert.deepEqual(room.texts(), ['text 1', 'four']);
  await room.clock.advance(1000);
  assert.deepEqual(room.texts(), ['text 1', 'two', 'three', 'four']);

  room.store(message(5, 'five'));
  room.frames({ type: 'pong', spaceId: undefined, spaces: { s: 5 } });
  await room.clock.advance(1000);
  assert.deepEqual(room.texts(), ['text 1', 'two', 'three', 'four', 'five']);
});

test('a truncated message is shown once it is complete', async () => {
  const room = await openRoom(1);
  room.store(message(2, 'the whole text'));
  room.frames(created(2, 'the wh', { truncated: true }));
  assert.deepEqual(room.texts(), ['text 1']);
  await room.clock.advance(1);
  assert.deepEqual(room.texts(), ['text 1', 'the whole text']);
});

test('a truncated message is fetched again until it is complete', async () => {
  const room = await openRoom(1);
  room.isDown = true;
  room.store(message(2, 'the whole text'));
  room.frames(created(2, 'the wh', { truncated: true }));
  await room.clock.advance(4000);
  assert.deepEqual(room.texts(), ['text 1', 'the wh']);
  room.isDown = false;
  await room.clock.advance(4000);
  assert.deepEqual(room.texts(), ['text 1', 'the whole text']);
  const count = room.requests.length;
  await room.clock.advance(10_000);
  assert.equal(room.requests.length, count, 'a complete message was fetched again');
});

test('a message replaces its stream, and late frames do not reopen it', async () => {
  const room = await openRoom(1);
  room.frames(
    { type: 'stream.delta', streamId: 'x', offset: 6, text: 'world' },
    { type: 'stream.snapshot', streamId: 'x', text: 'Hello ' },
  );
  assert.deepEqual(room.texts(), ['text 1', 'Hello world|']);
  room.frames(begin('x', { runId: 'r' })[0]);
  room.frames(created(2, 'Hello world.', { runId: 'r', streamId: 'x' }));
  assert.deepEqual(room.texts(), ['text 1', 'Hello world.']);
  room.frames(
    { type: 'stream.delta', streamId: 'x', offset: 11, text: '.' },
    { type: 'stream.snapshot', streamId: 'x', text: 'Hello' },
    { type: 'stream.ended', streamId: 'x', messageId: 'm2' },
  );
  assert.deepEqual(room.texts(), ['text 1', 'Hello world.']);
});

test('a stream without a message is dropped: canceled, run ended, or silent', async () => {
  const room = await openRoom(1);
  room.frames(...begin('canceled'));
  room.frames({ type: 'stream.ended', streamId: 'canceled', reason: 'canceled' });
  assert.deepEqual(room.texts(), ['text 1']);

  room.frames(...begin('its run ends'), run('run of its run ends', 'completed'));
  assert.deepEqual(room.texts(), ['text 1', 'its run ends|']);
  await room.clock.advance(3000);
  assert.deepEqual(room.texts(), ['text 1']);

  room.frames(...begin('silent'));
  await room.clock.advance(50_000);
  assert.deepEqual(room.texts(), ['text 1', 'silent|']);
  await room.clock.advance(20_000);
  assert.deepEqual(room.texts(), ['text 1']);

  room.frames(...begin('message on its way'));
  room.store(message(2, 'stored', { streamId: 'message on its way' }));
  room.frames({ type: 'stream.ended', streamId: 'message on its way', messageId: 'm2' });
  await room.clock.advance(3000);
  assert.deepEqual(room.texts(), ['text 1', 'stored']);
});

test('a snapshot is asked for when a part of a stream is missing, and not otherwise', async () => {
  const room = await openRoom(1);
  const asked = () =>
    room.sent.flatMap(({ action, streamId }) => (action === 'snapshot' ? [streamId] : [])).sort();
  room.frames(
    ...begin('whole'),
    ...begin('late'),
    { type: 'stream.delta', streamId: 'late', offset: 8, text: 'three' },
    ...begin('lost'),
    { type: 'stream.delta', streamId: 'lost', offset: 9, text: 'sentence.' },
    { type: 'stream.delta', streamId: 'joined', offset: 5, text: 'text' },
  );
  room.frames({ type: 'stream.delta', streamId: 'late', offset: 4, text: ' two' });
  await room.clock.advance(900);
  assert.deepEqual(asked(), []);
  // Within half a second more, so that not everyone asks at the same moment.
  await room.clock.advance(700);
  assert.deepEqual(asked(), ['joined', 'lost']);
  // It is asked again until the text is there or the stream has ended.
  room.frames(
    { type: 'stream.snapshot', streamId: 'lost', text: 'lost: no sentence.' },
    { type: 'stream.ended', streamId: 'joined', messageId: 'm1' },
  );
  await room.clock.advance(3000);
  assert.deepEqual(asked(), ['joined', 'lost']);
  assert.ok(room.texts().includes('lost: no sentence.|'));
});

test('many unfinished messages are looked at in few calls', async () => {
  const room = await openRoom(1);
  for (let seq = 2; seq <= 140; seq += 1) {
    const undecided = message(seq, `text ${seq}`, { dispatch: undefined });
    room.store({ ...undecided, dispatch: [], rev: 2 });
    room.frames({ type: 'message.created', message: undecided });
  }
  room.requests.length = 0;
  room.frames({ type: 'subscribed', seq: 140, from: null, active: [] });
  await room.clock.advance(1000);
  assert.ok(room.requests.length <= 3, `${room.requests.length} requests`);
  const { items } = room.space.timeline.getSnapshot();
  assert.ok(items.every((item) => item.type !== 'message' || item.message.dispatch));
});

test('the message of an ended stream is looked for where messages are missing', async () => {
  const room = await openRoom(1);
  room.frames(...begin('x'));
  // Its message is lost, and a later one is not.
  room.store(message(2, 'stored', { streamId: 'x' }), message(3, 'three'));
  let isFirst = true;
  room.respond = ({ path }) => {
    if (!path.includes('after=1&') || !isFirst) return null;
    isFirst = false;
    return { status: 503, body: {} };
  };
  room.frames({ type: 'stream.ended', streamId: 'x', messageId: 'm2' }, created(3, 'three'));
  const seen = [];
  for (let time = 0; time < 3000; time += 50) {
    seen.push(room.texts().join(' '));
    await room.clock.advance(50);
  }
  assert.ok(
    seen.every((texts) => /x\||stored/.test(texts)),
    'the text vanished for a moment',
  );
  assert.deepEqual(room.texts(), ['text 1', 'stored', 'three']);
});
