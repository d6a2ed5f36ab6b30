// Attempts that are repeated until they succeed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Clock } from './model/clock.js';
import { moduleOf } from './model/library.js';
import { deferred } from './model/room.js';

const { createTimers } = await moduleOf('timers.js');

/** Timers with work that a test ends: `calls` has the promises of the attempts, oldest first. */
function open() {
  const clock = new Clock();
  const { setTimeout, clearTimeout } = clock;
  const timers = createTimers({ setTimeout, clearTimeout, now: () => clock.now });
  const calls = [];
  const failures = [];
  const act = () => {
    calls.push(deferred());
    return calls.at(-1).promise;
  };
  const start = () => timers.persist('work', act, (error) => failures.push(error.message));
  return { clock, timers, calls, failures, start };
}

test('work that is asked for while it is under way is done once more, afterwards', async () => {
  for (const end of ['resolve', 'reject']) {
    const { clock, calls, failures, start } = open();
    for (let count = 0; count < 50; count += 1) start();
    assert.equal(calls.length, 1);
    calls[0][end](new Error('unavailable'));
    await clock.advance(0);
    assert.equal(calls.length, 2, end);
    calls[1].resolve();
    await clock.advance(60_000);
    assert.deepEqual([calls.length, failures], [2, []], end);
  }
});

test('work that failed is repeated after a pause, or at once if it is asked for', async () => {
  const { clock, calls, failures, start } = open();
  start();
  calls[0].reject(new Error('unavailable'));
  await clock.advance(1000);
  assert.deepEqual([calls.length, failures], [1, ['unavailable']]);
  start();
  assert.equal(calls.length, 2);
  calls[1].reject(new Error('still unavailable'));
  await clock.advance(5000);
  assert.deepEqual([calls.length, failures], [3, ['unavailable', 'still unavailable']]);
});

test('after a stop, work that is under way is forgotten', async () => {
  const { clock, timers, calls, failures, start } = open();
  start();
  start();
  timers.stop();
  start();
  assert.equal(calls.length, 2);
  calls[0].reject(new Error('unavailable'));
  await clock.advance(60_000);
  assert.deepEqual([calls.length, failures], [2, []]);
  start();
  assert.equal(calls.length, 2);
  calls[1].resolve();
  await clock.advance(0);
  assert.equal(calls.length, 3);
});
