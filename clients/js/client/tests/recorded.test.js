// The frames that the tests play have the shapes of recorded ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RECORDED, recorded } from './model/recorded.js';

test('a frame that no server sends can’t be played', () => {
  const hint = { type: 'system.message', runId: 'r', step: 1, watcher: 'steps', text: 'Hurry.' };
  assert.doesNotThrow(() => recorded(hint));
  assert.throws(() => recorded({ ...hint, type: 'system.hint' }), /no frame of the type/);
  assert.throws(() => recorded({ ...hint, hidden: true }), /hidden is boolean here, and not there/);
  assert.throws(() => recorded({ ...hint, step: 'one' }), /step is string here, and number/);
  const completed = { type: 'run.completed', run: { trigger: { type: 'webhook' } } };
  assert.throws(() => recorded(completed), /no run\.completed\.run\.trigger\{webhook\}/);
});

test('a frame has all fields that the product always sends', () => {
  const frame = recorded(
    { type: 'run.started', run: { id: 'r' } },
    { spaceId: 's', streamId: 'x' },
  );
  const example = RECORDED.find(({ type }) => type === 'run.started');
  assert.deepEqual(Object.keys(frame).sort(), Object.keys(example).sort());
  assert.equal(frame.spaceId, 's');
  assert.equal(frame.run.id, 'r');
  assert.equal(frame.run.endReason, null);
  assert.equal(frame.run.agentId, example.run.agentId);
});

test('the recorded frames cover what rules of their own say', () => {
  const has = (type, test) =>
    assert.ok(
      RECORDED.some((frame) => frame.type === type && test(frame)),
      `${type} ${test}`,
    );
  has('run.completed', ({ readSeq }) => readSeq > 0);
  has('run.completed', ({ run }) => !('text' in run.trigger));
  has('space.read', ({ reads }) => reads?.length > 1);
  has('system.message', (frame) => !frame.private);
  has('system.message', (frame) => frame.private);
  has('run.step', ({ step }) => step.waiting);
  has('message.created', ({ message }) => message.parts.some(({ partial }) => partial));
});
