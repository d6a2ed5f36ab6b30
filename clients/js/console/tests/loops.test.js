// Loops of agents, as the page of the operator names them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { loopsIn } = await importSource(`export { loopsIn } from './src/home/loops.ts';`);

const NOW = Date.parse('2026-03-01T12:00:00Z');
const ago = (seconds) => new Date(NOW - seconds * 1000).toISOString();

const run = (agentId, chainDepth, activeSpaceId = 'debate') => ({
  agentId,
  chainDepth,
  activeSpaceId,
  status: 'running',
  createdAt: ago(20 - chainDepth),
  finishedAt: null,
});
const found = (runs) => loopsIn(runs, NOW);

test('ten runs of one chain in a minute are a loop', () => {
  const turns = Array.from({ length: 11 }, (_, turn) => run(turn % 2 ? 'pong' : 'ping', turn + 1));
  const loop = {
    chainId: 'debate',
    spaceId: 'debate',
    agentIds: ['ping', 'pong'],
    runs: 11,
    depth: 11,
    newestAt: NOW - 9000,
  };
  assert.deepEqual(found(turns), [loop]);
  assert.deepEqual(found(turns.slice(0, 9)), []);
});

test('answers to people are no loop, and each space and chain counts for itself', () => {
  const answers = Array.from({ length: 30 }, () => run('ana', 0));
  assert.deepEqual(found(answers), []);
  const spread = Array.from({ length: 18 }, (_, turn) => run('ana', 2, turn % 2 ? 'one' : 'two'));
  assert.deepEqual(found(spread), []);
  const chains = Array.from({ length: 18 }, (_, turn) => ({
    ...run('ana', 2),
    chainId: `chain ${turn % 2}`,
  }));
  assert.deepEqual(found(chains), []);
  assert.equal(found([...chains, ...chains]).length, 2);
});

test('a loop ends when it is stopped, or when nothing follows', () => {
  const ended = (finishedAt, status = 'completed') =>
    Array.from({ length: 12 }, (_, turn) => ({
      ...run(turn % 2 ? 'pong' : 'ping', turn + 1),
      status,
      finishedAt,
    }));
  assert.equal(found(ended(ago(1))).length, 1);
  assert.deepEqual(found(ended(ago(6))), []);
  const [first, ...others] = ended(ago(1));
  const canceled = { ...first, status: 'canceled' };
  assert.deepEqual(found([canceled, ...others]), []);
  // Others follow the canceled run, or go on.
  assert.equal(found([{ ...canceled, finishedAt: ago(15) }, ...others]).length, 1);
  assert.equal(found([canceled, ...others, run('pong', 13)]).length, 1);
});
