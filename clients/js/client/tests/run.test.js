// One run, live.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { message, openRoom } from './model/room.js';

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
    const run = room.client.run('r1');
    run.subscribe(() => run.getSnapshot());
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
