// One room, frame by frame: what it shows when frames come late, twice, in another order or never.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADA, SARAH, deferred, listed, message, openRoom } from './model/room.js';

const created = (...given) => ({ type: 'message.created', message: message(...given) });

// A stream that begins with its own id as its text.
const begin = (streamId, more = {}) => [
  {
    type: 'stream.started',
    streamId,
    runId: `run of ${streamId}`,
    callId: streamId,
    attempt: 1,
    sender: ADA,
    kind: 'message',
    ...more,
  },
  { type: 'stream.delta', streamId, offset: 0, text: streamId },
];

const run = (id, status, more = {}) => ({
  type: `run.${status}`,
  run: { id, agentId: 'ada', status, stepCount: 0, createdAt: '2026-01-01T00:00:00Z', ...more },
});

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

test('a room that is far behind reloads its last page only', async () => {
  const room = await openRoom(1);
  for (let seq = 2; seq <= 1500; seq += 1) room.store(message(seq, `text ${seq}`));
  room.frames({ type: 'subscribed', seq: 1500, from: 1301, active: [] });
  await room.clock.advance(1000);
  const texts = room.texts();
  assert.deepEqual([texts[0], texts.at(-1), texts.length], ['text 1451', 'text 1500', 50]);
  assert.ok(room.requests.length <= 1, 'it fetched more than the last page');
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

test('a room tracks active and failed runs', async () => {
  const room = await openRoom(1);
  const active = [{ runId: 'a', agentId: 'ada', status: 'running' }];
  room.frames({ type: 'subscribed', seq: 1, from: 2, active });
  room.frames(run('b', 'running'), run('c', 'waiting_tool'));
  assert.deepEqual(room.activeRuns(), ['a running', 'b running', 'c waiting_tool']);
  const error = { code: 'overloaded', message: 'try later' };
  room.frames(
    run('b', 'failed', { error, finishedAt: '2026-02-01T00:00:00Z' }),
    run('b', 'running'),
    run('c', 'canceled'),
  );
  assert.deepEqual(room.activeRuns(), ['a running']);
  assert.deepEqual(room.texts(), ['text 1', 'try later (overloaded)']);
  room.frames({ type: 'subscribed', seq: 1, from: 2, active: [] });
  assert.deepEqual(room.activeRuns(), []);
});

test('a room tracks members, the name and the deletion of its space', async () => {
  const room = await openRoom(0);
  const state = () => {
    const { space, isGone } = room.space.getSnapshot();
    return [space.name, space.members.map(({ id }) => id), isGone];
  };
  const bob = { id: 'bob', name: 'Bob', type: 'agent', role: 'member', readSeq: 0 };
  room.frames({ type: 'member.joined', member: bob });
  room.frames({ type: 'member.joined', member: { ...bob, role: 'owner' } });
  assert.deepEqual(state(), ['S', ['ada', 'bob'], false]);
  room.frames({ type: 'member.left', entityId: 'bob' });
  assert.deepEqual(state(), ['S', ['ada'], false]);
  assert.equal(room.space.nameOf('bob'), 'Bob');
  room.frames({ type: 'space.updated', space: { id: 's', name: 'Renamed', members: [ADA] } });
  assert.deepEqual(state(), ['Renamed', ['ada'], false]);
  room.frames({ type: 'space.deleted' });
  assert.deepEqual(state(), ['Renamed', ['ada'], true]);
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

test('a room whose messages jump far ahead reloads its last page only', async () => {
  for (const jump of [
    (room) => room.frames({ type: 'pong', spaceId: undefined, spaces: { s: 3000 } }),
    (room) => room.frames(created(3000, 'text 3000')),
  ]) {
    const room = await openRoom(1);
    for (let seq = 2; seq <= 3000; seq += 1) room.store(message(seq, `text ${seq}`));
    jump(room);
    await room.clock.advance(5000);
    const texts = room.texts();
    assert.deepEqual([texts.at(-1), texts.length <= 51], ['text 3000', true]);
    assert.ok(room.requests.length <= 2, `${room.requests.length} requests`);
    assert.equal(room.space.timeline.getSnapshot().hasOlder, true);
  }
});

test('an older page that comes after such a jump is not mixed in', async () => {
  const room = await openRoom(60);
  let release;
  room.respond = ({ path }) => (path.includes('before=11') ? { status: 200, body: held } : null);
  const held = new Promise((resolve) => (release = resolve));
  const loading = room.space.loadOlder();
  await room.clock.advance(1);
  for (let seq = 61; seq <= 3000; seq += 1) room.store(message(seq, `text ${seq}`));
  room.frames({ type: 'subscribed', seq: 3000, from: 2801, active: [] });
  release({ items: room.stored.slice(0, 10) });
  const shown = [];
  room.space.timeline.subscribe(() => shown.push(...room.texts()));
  await loading;
  assert.ok(!shown.includes('text 1'));
  await room.clock.advance(5000);
  assert.equal(room.texts().at(-1), 'text 3000');
  assert.ok(room.requests.length < 5, `${room.requests.length} requests`);
});

test('an older page is asked for again if the server is busy', async () => {
  const room = await openRoom(60);
  let refusals = 2;
  room.respond = ({ path }) =>
    path.includes('before=11') && (refusals -= 1) >= 0 ? { status: 429, body: {} } : null;
  const loading = room.space.loadOlder();
  await room.clock.advance(10_000);
  await loading;
  assert.equal(room.texts().length, 60);
});

test('a page without older messages ends the search for them', async () => {
  const room = await openRoom(60);
  room.respond = ({ path }) =>
    path.includes('before=') ? { status: 200, body: { items: [] } } : null;
  assert.equal(room.space.timeline.getSnapshot().hasOlder, true);
  await room.space.loadOlder();
  assert.equal(room.space.timeline.getSnapshot().hasOlder, false);
  await room.clock.advance(5000);
  assert.equal(room.texts().length, 50);
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
  assert.ok(room.requests.length <= 2, `${room.requests.length} requests`);
  const { items } = room.space.timeline.getSnapshot();
  assert.ok(items.every((item) => item.type !== 'message' || item.message.dispatch));
});

test('a read position that could not be sent is sent when the space is opened again', async () => {
  const room = await openRoom(3, { me: SARAH });
  const positions = [];
  room.respond = ({ method, body }) => {
    if (method !== 'PUT') return null;
    positions.push(JSON.parse(body).seq);
    return { status: positions.length === 1 ? 503 : 200, body: {} };
  };
  room.space.markRead();
  await room.clock.advance(1);
  room.leave();
  await room.clock.advance(60_000);
  assert.deepEqual(positions, [3]);
  room.enter();
  await room.clock.advance(1000);
  assert.deepEqual(positions, [3, 3]);
  room.leave();
  await room.clock.advance(5000);
  room.enter();
  await room.clock.advance(1000);
  assert.deepEqual(positions, [3, 3], 'it was sent again');
});

test('presence ends on time, however wrong the clock of this machine is', async () => {
  for (const wrongMs of [-3_600_000, 0, 3_600_000]) {
    const room = await openRoom(1);
    const present = () => room.space.presence.getSnapshot().present.length;
    const time = (inMs) => new Date(room.clock.now + wrongMs + inMs).toISOString();
    const entry = { entityId: 'ada', since: time(0), until: time(60_000) };
    room.frames({ type: 'presence', at: time(0), present: [entry], typing: [] });
    await room.clock.advance(55_000);
    assert.equal(present(), 1, `after 55 s with a clock that is ${wrongMs} ms off`);
    await room.clock.advance(10_000);
    assert.equal(present(), 0, `after 65 s with a clock that is ${wrongMs} ms off`);
  }
});

test('settings that arrive beside a newer event are fetched again', async () => {
  const room = await openRoom(1);
  const named = (name) => ({ id: 's', name, seq: 1, members: [] });
  let release;
  const old = new Promise((resolve) => (release = resolve));
  const answers = [old, named('newest')];
  room.respond = ({ path }) =>
    path === '/v1/spaces/s' ? { status: 200, body: answers.shift() } : null;
  room.frames({ type: 'subscribed', seq: 1, from: null, active: [] });
  await room.clock.advance(10);
  room.frames({ type: 'space.updated', at: '2026-02-01T00:00:00Z', space: named('newer') });
  release(named('old'));
  await room.clock.advance(10);
  assert.equal(room.space.getSnapshot().space.name, 'newest');
  assert.deepEqual(answers, []);
});

test('the answers to two calls for the settings may come in any order', async () => {
  const room = await openRoom(1);
  const named = (name) => ({ id: 's', name, seq: 1, members: [] });
  const old = deferred();
  const answers = [old.promise, named('new')];
  room.respond = ({ path }) =>
    path === '/v1/spaces/s' && answers.length > 0 ? { status: 200, body: answers.shift() } : null;
  room.frames({ type: 'subscribed', seq: 1, from: null, active: [] });
  await room.clock.advance(10);
  room.frames({ type: 'space.updated', at: '', space: named('') });
  room.frames({ type: 'subscribed', seq: 1, from: null, active: [] });
  await room.clock.advance(10);
  old.resolve(named('old'));
  await room.clock.advance(10);
  assert.equal(room.space.getSnapshot().space.name, 'new');
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

test('a space that was left while it loaded keeps what it shows when it is opened again', async () => {
  const first = deferred();
  let pages = 0;
  const respond = ({ path }) => {
    if (path.includes('/v1/spaces?'))
      return { status: 200, body: { items: [listed(3)], nextCursor: null } };
    return path.includes('/messages?') && (pages += 1) === 1
      ? { status: 200, body: first.promise }
      : null;
  };
  const room = await openRoom(3, { me: SARAH, respond });
  room.client.spaces.subscribe(() => {});
  await room.clock.advance(100);
  room.leave();
  await room.clock.advance(2000);
  room.enter();
  await room.clock.advance(20_000);
  first.reject(new Error('aborted'));
  await room.clock.advance(600_000);
  assert.deepEqual(room.texts(), ['text 1', 'text 2', 'text 3']);
  assert.equal(room.space.timeline.getSnapshot().isLoading, false);
});

test('an answer to an earlier load undoes no newer event', async () => {
  const first = deferred();
  let loads = 0;
  const respond = ({ path }) =>
    path === '/v1/spaces/s' && (loads += 1) === 1 ? { status: 200, body: first.promise } : null;
  const room = await openRoom(1, { respond });
  room.leave();
  await room.clock.advance(2000);
  room.enter();
  await room.clock.advance(1000);
  const named = (name) => ({ id: 's', name, seq: 1, members: [] });
  room.frames({ type: 'space.updated', at: '2026-02-01T00:00:00Z', space: named('Renamed') });
  first.resolve(named('S'));
  await room.clock.advance(1000);
  assert.equal(room.space.getSnapshot().space.name, 'Renamed');
});

const jumpTo = (room, seq) => {
  for (let each = room.stored.length + 1; each <= seq; each += 1)
    room.store(message(each, `text ${each}`));
  room.frames({ type: 'subscribed', seq, from: null, active: [] });
};

test('after a jump the last page is loaded, also if the oldest one was loaded before', async () => {
  const room = await openRoom(60);
  room.respond = ({ path }) =>
    path.includes('before=11&') ? { status: 200, body: { items: [] } } : null;
  await room.space.loadOlder();
  jumpTo(room, 3000);
  await room.clock.advance(1000);
  assert.deepEqual([room.texts().length, room.texts().at(-1)], [50, 'text 3000']);
  assert.equal(room.space.timeline.getSnapshot().hasOlder, true);
});

test('after a jump the last page is loaded, also if the space was left meanwhile', async () => {
  const room = await openRoom(60);
  room.respond = ({ path }) => (path.includes('before=') ? { status: 503, body: {} } : null);
  jumpTo(room, 3000);
  await room.clock.advance(10);
  room.leave();
  await room.clock.advance(5000);
  room.respond = () => null;
  room.enter();
  await room.clock.advance(5000);
  assert.deepEqual([room.texts().length, room.texts().at(-1)], [50, 'text 3000']);
});

test('after a jump one page is loaded, also while the runs can’t be', async () => {
  const room = await openRoom(60);
  room.respond = ({ path }) => (path.includes('/runs?') ? { status: 503, body: {} } : null);
  jumpTo(room, 5000);
  await room.clock.advance(600_000);
  assert.equal(room.texts().length, 50);
});

test('a jump in a space that nobody follows makes no calls', async () => {
  let seq = 3;
  const respond = ({ path }) =>
    path.includes('/v1/spaces?')
      ? { status: 200, body: { items: [listed(seq, 'far')], nextCursor: null } }
      : null;
  const room = await openRoom(3, { me: SARAH, respond });
  await room.client.reloadSpaces();
  room.leave();
  await room.clock.advance(5000);
  seq = 5000;
  await room.client.reloadSpaces();
  room.calls.length = 0;
  await room.clock.advance(3_600_000);
  assert.deepEqual(room.calls, []);
});

test('a page that is loaded before a jump is not shown after it', async () => {
  const first = deferred();
  let seq = 100;
  let isReady = false;
  const respond = ({ path }) => {
    if (path.includes('/v1/spaces?'))
      return { status: 200, body: { items: [listed(seq)], nextCursor: null } };
    if (!isReady && path.includes('/messages?')) return { status: 503, body: {} };
    return path.includes('before=100&') ? { status: 200, body: first.promise } : null;
  };
  const room = await openRoom(100, { me: SARAH, respond });
  room.leave();
  await room.clock.advance(3000);
  await room.client.reloadSpaces();
  isReady = true;
  for (let each = 101; each <= 5100; each += 1) room.store(message(each, `text ${each}`));
  seq = 5100;
  room.requests.length = 0;
  room.enter();
  await room.clock.advance(20);
  room.client.reloadSpaces();
  await room.clock.advance(500);
  first.resolve({ items: room.stored.slice(49, 99) });
  await room.clock.advance(10_000);
  assert.deepEqual([room.texts()[0], room.texts().at(-1)], ['text 5051', 'text 5100']);
  assert.ok(room.requests.length < 4, `${room.requests.length} requests`);
});

test('no read position of nothing is sent', async () => {
  const room = await openRoom(7, { me: SARAH });
  const positions = [];
  const first = deferred();
  room.respond = ({ method, body }) => {
    if (method !== 'PUT') return null;
    positions.push(JSON.parse(body).seq);
    return {
      status: positions.length === 1 ? 503 : 200,
      body: positions.length === 1 ? first.promise : {},
    };
  };
  room.space.markRead(5);
  await room.clock.advance(1);
  room.space.markRead(7);
  await room.clock.advance(1);
  first.resolve({});
  await room.clock.advance(60_000);
  assert.deepEqual(positions, [5, 7]);
});

test('a run of the first message that failed before the subscription is shown', async () => {
  let isReady = false;
  const respond = ({ path }) => {
    if (path.includes('/v1/spaces?'))
      return { status: 200, body: { items: [listed(1)], nextCursor: null } };
    return isReady ? null : { status: 503, body: {} };
  };
  const room = await openRoom(0, { me: SARAH, respond });
  room.leave();
  await room.clock.advance(3000);
  const dispatch = [{ agentId: 'ada', runId: 'r1', source: 'auto' }];
  const first = message(1, 'text 1', { dispatch });
  room.store(first);
  const { createdAt } = first;
  const error = { code: 'bad_request', message: 'failed' };
  const more = { createdAt, finishedAt: createdAt, error };
  room.runs = [run('r1', 'failed', more).run];
  isReady = true;
  await room.client.reloadSpaces();
  room.onSubscribe = ({ action, id }) => {
    if (action !== 'subscribe') return null;
    // The subscription brings the message after its runs were asked for.
    room.clock.setTimeout(() => room.frames({ type: 'message.created', message: first }), 100);
    return { type: 'subscribed', id, seq: 1, from: 1, active: [] };
  };
  room.enter();
  await room.clock.advance(2000);
  assert.deepEqual(room.texts(), ['text 1', 'failed (bad_request)']);
});

test('what the system told the model of a run is in the runs', async () => {
  const room = await openRoom(1);
  const hints = [{ watcher: 'context', text: '85 % of its context is used.', at: '' }];
  room.frames(run('quiet', 'completed'), run('told', 'completed', { hints }));
  assert.deepEqual(room.space.runs.getSnapshot().hints, { told: hints });
});
