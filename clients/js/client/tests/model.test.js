// The client against a model of the server, by seed: frames that are lost, doubled and permuted,
// cut connections, a server that freezes, restarts and rolls over, two tabs. `MODEL_SEEDS=10000
// MODEL_FROM=7 node --test tests/model.test.js` plays more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../dist/index.js';
import { play } from './model/play.js';

const FROM = Number(process.env.MODEL_FROM ?? 1);
const SEEDS = Number(process.env.MODEL_SEEDS ?? 500);

test(`${SEEDS} sequences: a page shows what HTTP says, and nothing twice`, async () => {
  const failures = [];
  for (let seed = FROM; seed < FROM + SEEDS && failures.length < 3; seed += 1)
    await play(createClient, seed).catch((error) => failures.push(error.message));
  assert.deepEqual(failures, []);
});
