// The table of the connection: which states follow which, and what holds in every state.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleOf } from './model/library.js';

const { TABLE } = await moduleOf('connection/transitions.js');

/** The events of a state after which another one begins. The others only act. */
const targets = (row) =>
  Object.fromEntries(Object.entries(row).filter(([, cell]) => typeof cell === 'string'));

const HELD = { release: 'idle', end: 'ended' };
const NETWORKED = { ...HELD, offline: 'waiting' };
const CONNECTED = { ...NETWORKED, lost: 'waiting', postponed: 'delayed', rejected: 'refused' };

test('every change of the state is declared', () => {
  const changes = Object.entries(TABLE).map(([name, row]) => [name, targets(row)]);
  assert.deepEqual(Object.fromEntries(changes), {
    idle: { hold: 'connecting', end: 'ended' },
    connecting: {
      ...NETWORKED,
      ready: 'live',
      failed: 'waiting',
      postponed: 'delayed',
      rejected: 'refused',
    },
    live: { ...CONNECTED, move: 'moving' },
    moving: { ...CONNECTED, ready: 'live', failed: 'live' },
    waiting: { ...NETWORKED, retry: 'connecting', check: 'connecting', answered: 'connecting' },
    delayed: { ...HELD, retry: 'connecting' },
    refused: { ...HELD, check: 'connecting' },
    ended: {},
  });
});

test('every state that a table names exists', () => {
  for (const row of Object.values(TABLE))
    for (const name of Object.values(targets(row))) assert.ok(TABLE[name], name);
});

test('a pause that the server asked for ends by itself only', () => {
  for (const event of ['check', 'answered', 'unanswered', 'offline'])
    assert.equal(TABLE.delayed[event], undefined);
});
