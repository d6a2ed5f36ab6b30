// The runs, members, presence and read positions of a room, frame by frame.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { created, run } from './model/frames.js';
import { ADA, SARAH, deferred, listed, openRoom } from './model/room.js';

const AT = '2026-02-01T00:00:00Z';

test('a room tracks active and failed runs', async () => {
  const room = await openRoom(1);
  const active = [{ runId: 'a', agentId: 'ada', status: 'running' }];
  room.frames({ type: 'subscribed', seq: 1, from: 2, active });
  room.frames(run('b', 'started'), run('c', 'waiting_tool'));
  assert.deepEqual(room.activeRuns(), ['a running', 'b running', 'c waiting_tool']);
  const error = { code: 'overloaded', message: 'try later' };
  room.frames(
    run('b', 'failed', { error, finishedAt: '2026-02-01T00:00:00Z' }),
    run('b', 'started'),
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
  room.frames({ type: 'member.joined', member: { ...ADA, role: 'owner', readSeq: 0 } });
  assert.deepEqual(state(), ['S', ['ada', 'bob'], false]);
  room.frames({ type: 'member.left', entityId: 'bob' });
  assert.deepEqual(state(), ['S', ['ada'], false]);
  assert.equal(room.space.nameOf('bob'), 'Bob');
  room.frames({ type: 'space.updated', space: { id: 's', name: 'Renamed', members: [ADA] } });
  assert.deepEqual(state(), ['Renamed', ['ada'], false]);
  room.frames({ type: 'space.deleted' });
  assert.deepEqual(state(), ['Renamed', ['ada'], true]);
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

test('the unread line stands, though a page that opens again reads at once', async () => {
  const room = await openRoom(1, { me: SARAH });
  const kinds = () => room.space.timeline.getSnapshot().items.map(({ type }) => type);
  const leave = () => {
    room.leave();
    return room.clock.advance(60_000);
  };
  const enter = () => {
    room.enter();
    return room.clock.advance(1000);
  };
  room.space.markRead();
  const unwatch = room.space.watch();
  await leave();
  room.frames(created(2, 'news'));
  room.space.markRead();
  await enter();
  assert.deepEqual(kinds(), ['day', 'message', 'unread', 'message']);
  room.frames(created(3, 'more news'));
  assert.deepEqual(kinds(), ['day', 'message', 'unread', 'message', 'message']);
  await leave();
  await enter();
  room.space.markRead();
  await leave();
  await enter();
  assert.deepEqual(kinds(), ['day', 'message', 'message', 'message']);
  unwatch();
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

test('a read position from before the space is loaded is sent', async () => {
  const positions = [];
  const space = deferred();
  const respond = ({ method, path, body }) => {
    if (path === '/v1/spaces/s') return { status: 200, body: space.promise };
    if (method !== 'PUT') return null;
    positions.push(JSON.parse(body).seq);
    return { status: 200, body: {} };
  };
  const room = await openRoom(3, { me: SARAH, respond });
  room.space.markRead();
  room.space.markRead(3);
  room.space.markRead(2);
  space.resolve(listed(3));
  await room.clock.advance(1000);
  assert.deepEqual(positions, [3]);
});

test('the messages of the system to the model of a run are in the runs', async () => {
  const room = await openRoom(1);
  const hints = () => room.space.runs.getSnapshot().hints;
  const first = { watcher: 'context', text: '70 % of its context is used.', at: AT };
  const second = { ...first, text: '85 % of its context is used.' };
  const frame = (hint) => ({ type: 'system.message', runId: 'r', step: 1, ...hint });
  room.frames(run('quiet', 'completed'), frame(first), frame(first));
  assert.deepEqual(hints(), { r: [first] });
  room.frames({ ...frame({ ...first, watcher: 'news', text: 'Hello' }), private: true });
  assert.deepEqual(hints(), { r: [first] }, 'what only operators get is no hint');
  room.frames(run('r', 'completed'));
  assert.deepEqual(hints(), { r: [first] }, 'the events of runs have none');
  // The next load brings those whose frames were lost.
  room.runs = [{ ...run('r', 'completed').run, hints: [first, second] }];
  room.frames({ type: 'subscribed', seq: 1, from: null, active: [] });
  await room.clock.advance(1000);
  assert.deepEqual(hints(), { r: [first, second] });
});

test('the end of a run says how far its agent has read', async () => {
  const room = await openRoom(3);
  const position = () => room.space.getSnapshot().space.members[0].readSeq;
  room.frames({ ...run('a', 'completed'), readSeq: 2 });
  assert.equal(position(), 2);
  room.frames({ ...run('b', 'completed'), readSeq: 1 }, run('c', 'failed'));
  assert.equal(position(), 2, 'a position moves forward only');
});

test('the report of the gate is asked for, and asked for again', async () => {
  const report = { messages: 0, now: { wakes: 0, answers: 0 }, dials: [] };
  const statuses = [503, 200];
  const room = await openRoom(1, {
    respond: ({ method, path }) =>
      `${method} ${path}` === 'GET /v1/spaces/a%2Fb/gate'
        ? { status: statuses.shift(), body: report }
        : null,
  });
  const asked = room.client.gateReport('a/b');
  await room.clock.advance(5000);
  assert.deepEqual(await asked, report);
  assert.deepEqual(statuses, []);
});

test('a room keeps the lines between its messages once each, in their order', async () => {
  const line = (id, afterSeq, kind = 'paused') => ({ id, afterSeq, at: AT, by: null, kind });
  const room = await openRoom(3);
  const lines = () => room.space.timeline.getSnapshot().lines.map(({ id }) => id);
  assert.deepEqual(lines(), []);
  room.frames({ type: 'space.line', line: line('lin_3', 3) });
  room.frames({ type: 'space.line', line: line('lin_2', 3) });
  room.frames({ type: 'space.line', line: line('lin_3', 3) });
  room.frames({ type: 'space.line', line: line('lin_9', 2) });
  assert.deepEqual(lines(), ['lin_9', 'lin_2', 'lin_3']);
  assert.deepEqual(room.texts(), ['text 1', 'text 2', 'text 3']);
});

test('a room loads lines with its pages, also older ones', async () => {
  const line = (id, afterSeq) => ({ id, afterSeq, at: AT, by: null, kind: 'resumed' });
  const room = await openRoom(60);
  const lines = () => room.space.timeline.getSnapshot().lines.map(({ id }) => id);
  room.respond = ({ path }) =>
    path.includes('before=11')
      ? { status: 200, body: { items: room.stored.slice(0, 10), lines: [line('lin_1', 4)] } }
      : null;
  room.frames({ type: 'space.line', line: line('lin_2', 60) });
  await room.space.loadOlder();
  assert.deepEqual(lines(), ['lin_1', 'lin_2']);
});

test('a client stops a chain and a space with one call each', async () => {
  const room = await openRoom(1);
  const answer = { canceledRuns: 2, line: { id: 'lin_1', afterSeq: 1 } };
  const paths = [];
  room.respond = ({ method, path }) => {
    if (method !== 'POST') return null;
    paths.push(path.replace(/^.*\/v1/, '/v1'));
    return { status: 200, body: answer };
  };
  assert.deepEqual(await room.client.stopChain('s', 7), answer);
  assert.deepEqual(await room.client.stopSpace('s'), answer);
  assert.deepEqual(paths, ['/v1/spaces/s/messages/7/chain/cancel', '/v1/spaces/s/stop']);
});

test('the revisions of an agent are listed, and one is restored', async () => {
  const revisions = [{ revision: 2 }, { revision: 1 }];
  const agent = { id: 'a/b', revision: 3 };
  const paths = [];
  // The first call of each kind fails for a moment.
  const answers = {
    'GET /v1/agents/a%2Fb/revisions': [503, { items: revisions }],
    'POST /v1/agents/a%2Fb/revisions/1/restore': [503, agent],
  };
  const room = await openRoom(1, {
    respond({ method, path }) {
      const answer = answers[`${method} ${path}`]?.shift();
      if (answer === undefined) return null;
      paths.push(`${method} ${path}`);
      return answer === 503 ? { status: 503, body: {} } : { status: 200, body: answer };
    },
  });
  const { agents } = room.client;
  const asked = Promise.all([agents.revisions('a/b'), agents.restore('a/b', 1)]);
  await room.clock.advance(5000);
  assert.deepEqual(await asked, [revisions, agent]);
  assert.equal(paths.length, 4);
});

test('files are applied, or tried, and a refused apply says why', async () => {
  const body = { project: 'support', objects: [{ kind: 'agent', externalId: 'ada', spec: {} }] };
  const answer = { applied: 'all', results: [] };
  const results = [{ externalId: 'ada', drift: [{ pointer: '/name', now: 'Eva' }] }];
  const calls = [];
  // The first call fails for a moment.
  const answers = [
    { status: 503, body: {} },
    { status: 200, body: answer },
    { status: 200, body: answer },
    { status: 409, body: { detail: 'Changed by hand.', results } },
  ];
  const room = await openRoom(1, {
    respond({ method, path, body: sent }) {
      if (!path.startsWith('/v1/apply')) return null;
      calls.push([`${method} ${path}`, JSON.parse(sent)]);
      return answers.shift();
    },
  });
  const { client } = room;
  const asked = client.apply(body);
  await room.clock.advance(5000);
  assert.deepEqual(await asked, answer);
  assert.deepEqual(await client.apply(body, { dryRun: true }), answer);
  const refused = await client.apply(body).catch((error) => error);
  assert.deepEqual([refused.status, refused.problem.results], [409, results]);
  const applied = ['POST /v1/apply?dryRun=false', body];
  assert.deepEqual(calls, [applied, applied, ['POST /v1/apply?dryRun=true', body], applied]);
});
