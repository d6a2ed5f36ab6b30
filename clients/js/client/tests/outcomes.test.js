// What became of a message for an agent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleOf } from './model/library.js';

const { NO_RUNS, outcomeOf, putRuns } = await moduleOf('space/runs.js');

const NOBODY = new Set();

function outcomeAfter(run, spoken = NOBODY) {
  const known = { ...NO_RUNS };
  putRuns(known, [{ id: 'r1', agentId: 'a1', stepCount: 1, ...run }]);
  const { state, reason } = outcomeOf({ agentId: 'a1', runId: 'r1' }, known, spoken, NOBODY, false);
  return [state, reason];
}

test('a refusal of the model is no chosen silence', () => {
  const completed = (endReason, reason) => ({ status: 'completed', endReason, reason });
  assert.deepEqual(outcomeAfter(completed('refusal')), ['refused', null]);
  assert.deepEqual(outcomeAfter(completed('skipped', 'Not mine.')), ['silent', 'Not mine.']);
  assert.deepEqual(outcomeAfter(completed('done')), ['silent', 'done']);
  assert.deepEqual(outcomeAfter(completed('length')), ['silent', 'length']);
  assert.deepEqual(outcomeAfter(completed('refusal'), new Set(['r1'])), ['spoke', null]);
});
