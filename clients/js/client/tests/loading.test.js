// What a room loads over HTTP, also when answers come late, in another order or never.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { created, run } from './model/frames.js';
import { SARAH, deferred, listed, message, openRoom } from './model/room.js';

test('a room that is far behind reloads its last page only', async () => {
  const room = await openRoom(1);
  for (let seq = 2; seq <= 1500; seq += 1) room.store(message(seq, `text ${seq}`));
  room.frames({ type: 'subscribed', seq: 1500, from: 1301, active: [] });
  await room.clock.advance(1000);
  const texts = room.texts();
  assert.deepEqual([texts[0], texts.at(-1), texts.length], ['text 1451', 'text 1500', 50]);
  assert.ok(room.requests.length <= 1, 'it fetched more than the last page');
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
  await loading;
  assert.ok(!room.texts().includes('text 1'));
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

test('a space that was left while it loaded keeps its timeline until it is opened', async () => {
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

test('while a listed space loads, it takes over its live events', async () => {
  const respond = ({ path }) => {
    if (path.includes('/v1/spaces?'))
      return { status: 200, body: { items: [listed(1)], nextCursor: null } };
    return path.startsWith('/v1/spaces/s') ? { status: 503, body: {} } : null;
  };
  const room = await openRoom(1, { me: SARAH, respond });
  room.client.spaces.subscribe(() => {});
  await room.clock.advance(1000);
  room.frames(created(2, 'while it loads'));
  await room.clock.advance(100);
  const [{ lastMessage }] = room.client.spaces.getSnapshot().spaces;
  assert.equal(lastMessage?.seq, 2);
});

// Answers with 100 messages that name three runs each, and with pages of these runs. Notes in
// `asked` how many runs were asked for.
function manyRuns(asked) {
  const at = (seq) => new Date(Date.UTC(2026, 0, 1, 0, seq)).toISOString();
  const dispatchOf = (seq) =>
    ['ada', 'ben', 'cleo'].map((agentId) => ({ agentId, runId: `${agentId} ${seq}` }));
  const stored = Array.from({ length: 100 }, (_, index) =>
    message(index + 1, `text ${index + 1}`, { dispatch: dispatchOf(index + 1) }),
  );
  const runs = stored.toReversed().flatMap(({ seq, dispatch }) =>
    dispatch.map(({ runId }) => {
      const times = { createdAt: at(seq), finishedAt: at(seq) };
      return run(runId, 'completed', times).run;
    }),
  );
  return ({ path }) => {
    const { pathname, searchParams } = new URL(path, 'http://server');
    const number = (name) => Number(searchParams.get(name));
    const limit = number('limit');
    if (pathname.endsWith('/messages')) {
      const older = stored.filter(({ seq }) => seq < number('before'));
      return { status: 200, body: { items: older.slice(-limit) } };
    }
    if (!pathname.endsWith('/runs')) return null;
    asked.push(limit);
    const next = number('cursor') + limit;
    const nextCursor = next < runs.length ? `${next}` : null;
    return { status: 200, body: { items: runs.slice(number('cursor'), next), nextCursor } };
  };
}

test('of the runs of a space, those are asked for that its messages name', async () => {
  const asked = [];
  const room = await openRoom(100, { respond: manyRuns(asked) });
  const outcomes = () => room.space.runs.getSnapshot().outcomes;
  const isDecided = (seq) => outcomes()[`m${seq}`].every(({ state }) => state === 'silent');
  assert.deepEqual(asked, [160]);
  assert.ok(isDecided(51) && isDecided(100));
  // What has ended does not change.
  room.frames({ type: 'subscribed', seq: 100, from: null, active: [] });
  await room.clock.advance(1000);
  assert.deepEqual(asked, [160, 10]);
  await room.space.loadOlder();
  assert.ok(isDecided(1));
  assert.ok(asked.length <= 4, asked.join());
});
