// Loops of agents, as the page of the operator names them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { loopsIn } = await importSource(`export { loopsIn } from './src/home/loops.ts';`);

const run = (agentId, chainDepth, activeSpaceId = 'debate') => ({
  agentId,
  chainDepth,
  activeSpaceId,
});

test('ten runs of one chain in a minute are a loop', () => {
  const turns = Array.from({ length: 11 }, (_, turn) => run(turn % 2 ? 'pong' : 'ping', turn + 1));
  const loop = { spaceId: 'debate', agentIds: ['ping', 'pong'], runs: 11, depth: 11 };
  assert.deepEqual(loopsIn(turns), [loop]);
  assert.deepEqual(loopsIn(turns.slice(0, 9)), []);
});

test('answers to people are no loop, and each space and chain counts for itself', () => {
  const answers = Array.from({ length: 30 }, () => run('ana', 0));
  assert.deepEqual(loopsIn(answers), []);
  const spread = Array.from({ length: 18 }, (_, turn) => run('ana', 2, turn % 2 ? 'one' : 'two'));
  assert.deepEqual(loopsIn(spread), []);
  const chains = Array.from({ length: 18 }, (_, turn) => ({
    ...run('ana', 2),
    chainId: `chain ${turn % 2}`,
  }));
  assert.deepEqual(loopsIn(chains), []);
  assert.equal(loopsIn([...chains, ...chains]).length, 2);
});
