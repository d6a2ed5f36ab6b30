// One run, live.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './model/frames.js';
import { deferred, message, openRoom } from './model/room.js';

test('a message of a remote run is news of the run', async () => {
  for (const [remote, loads] of [
    [true, 1],
    [undefined, 0],
  ]) {
    const trigger = { type: 'space_message', spaceId: 's' };
    const body = { id: 'r1', status: 'running', finishedAt: null, trigger, remote };
    const room = await openRoom(1, {
      respond: ({ path }) => (path === '/v1/runs/r1' ? { status: 200, body } : null),
    });
    const followed = room.client.run('r1');
    followed.subscribe(() => followed.getSnapshot());
    await room.clock.advance(100);
    const asked = () => room.calls.filter((call) => call === 'GET /v1/runs/r1').length;
    const before = asked();
    const created = (seq, runId) => ({
      type: 'message.created',
      spaceId: 's',
      message: message(seq, `text ${seq}`, { runId }),
    });
    room.frames(created(2, 'r2'), created(3, 'r1'));
    await room.clock.advance(100);
    assert.equal(asked() - before, loads);
  }
});

const stateOf = (status, stepCount) => ({
  id: 'r1',
  status,
  stepCount,
  finishedAt: null,
  createdAt: '2026-01-01T00:00:00Z',
  trigger: { type: 'space_message', spaceId: 's' },
});
const news = (status) => run('r1', status, { stepCount: 1 });

/** A room with a followed run, whose loads get `answers`, and the number of loads. */
async function openRun(...answers) {
  const respond = ({ path }) =>
    path === '/v1/runs/r1' ? { status: 200, body: answers.shift() } : null;
  const room = await openRoom(1, { respond });
  const followed = room.client.run('r1');
  const stop = followed.subscribe(() => followed.getSnapshot());
  await room.clock.advance(100);
  const loads = () => room.calls.filter((call) => call === 'GET /v1/runs/r1').length;
  return { room, followed, stop, loads, status: () => followed.getSnapshot().run.status };
}

test('a load that ends late does not undo a newer one', async () => {
  const late = deferred();
  const now = stateOf('running', 1);
  const { room, status } = await openRun(stateOf('running', 0), late.promise, now, now);
  room.frames(news('waiting_tool'), news('resumed'));
  await room.clock.advance(10);
  late.resolve(stateOf('waiting_tool', 1));
  await room.clock.advance(100);
  assert.equal(status(), 'running');
});

test('a load from before the run was left does not undo a newer one', async () => {
  const late = deferred();
  const now = stateOf('running', 1);
  const { room, followed, stop, status } = await openRun(late.promise, now, now, now);
  stop();
  await room.clock.advance(2000);
  followed.subscribe(() => {});
  await room.clock.advance(100);
  late.resolve(stateOf('waiting_tool', 1));
  await room.clock.advance(100);
  assert.equal(status(), 'running');
});

test('a run that waits is shown so, also if a load met it at work', async () => {
  const [atWork, waits] = [stateOf('running', 1), stateOf('waiting_tool', 1)];
  const { room, status } = await openRun(atWork, atWork, waits, waits);
  room.frames(news('waiting_tool'));
  await room.clock.advance(100);
  assert.equal(status(), 'waiting_tool');
});

test('a subscription to another space is no news of a run', async () => {
  const { room, loads } = await openRun(stateOf('running', 1), stateOf('running', 1));
  const before = loads();
  room.frames({ type: 'subscribed', spaceId: 'other', seq: 1, from: null, active: [] });
  await room.clock.advance(100);
  assert.equal(loads(), before);
});

test('a load over a dead network does not hold up the next one', async () => {
  const dead = deferred();
  const now = stateOf('running', 1);
  const ended = { ...stateOf('completed', 1), finishedAt: '2026-01-01T00:00:01Z' };
  const { room, status } = await openRun(now, now, dead.promise, ended);
  room.frames(news('started'));
  await room.clock.advance(10);
  room.frames(news('completed'));
  await room.clock.advance(2100);
  assert.equal(status(), 'completed');
  dead.resolve(now);
  await room.clock.advance(100);
  assert.equal(status(), 'completed');
});

test('the step of a run says whether it waits for its model', async () => {
  const { room, followed } = await openRun(stateOf('running', 1), stateOf('running', 1));
  const step = (rev, more) => ({
    type: 'run.step',
    runId: 'r1',
    step: { index: 0, rev, calls: [], ...more },
  });
  const isWaiting = () => [
    followed.getSnapshot().step.waiting ?? false,
    ...room.space.runs.getSnapshot().active.map(({ waiting }) => waiting),
  ];
  room.frames(news('started'), step(2, { waiting: true }), step(1, {}));
  assert.deepEqual(isWaiting(), [true, true]);
  room.frames(step(3, {}));
  assert.deepEqual(isWaiting(), [false, false]);
});
