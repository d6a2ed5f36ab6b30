// The table of the connection: which states follow which, and what holds in every state.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleOf } from './model/library.js';

const { TABLE } = await moduleOf('connection/table.js');

/** The states that may follow a state after an event, without the state itself. */
const targets = (row) =>
  Object.fromEntries(
    Object.entries(row).flatMap(([event, lines]) => {
      const states = lines.flatMap(([to]) => to ?? []);
      return states.length > 0 ? [[event, states.join(' ')]] : [];
    }),
  );

const HELD = { release: 'idle', end: 'ended', offline: 'waiting' };
const GOODBYE = 'refused delayed connecting waiting';
const READY = { ...HELD, closed: 'waiting', goodbye: GOODBYE, pongDue: 'waiting' };

test('every change of the state is declared', () => {
  const changes = Object.entries(TABLE).map(([name, row]) => [name, targets(row)]);
  assert.deepEqual(Object.fromEntries(changes), {
    idle: { hold: 'connecting', end: 'ended' },
    connecting: {
      ...HELD,
      unsupported: 'refused',
      failed: 'refused waiting',
      ready: 'live',
      closed: 'waiting',
      goodbye: GOODBYE,
      connectDue: 'waiting',
    },
    live: { ...READY, moveDue: 'moving' },
    moving: {
      ...READY,
      failed: 'live',
      connectDue: 'live',
      ready: 'live',
      closed: 'live waiting',
    },
    waiting: {
      ...HELD,
      retryDue: 'connecting',
      check: 'connecting',
      answered: 'connecting',
    },
    delayed: { ...HELD, retryDue: 'connecting' },
    refused: { ...HELD, check: 'connecting' },
    ended: {},
  });
});

test('no line of a cell stands behind one that always fits', () => {
  for (const row of Object.values(TABLE))
    for (const lines of Object.values(row))
      assert.ok(lines.slice(0, -1).every(([, , when]) => when));
});

test('a pause that the server asked for ends by itself only', () => {
  for (const event of ['check', 'answered', 'unanswered'])
    assert.equal(TABLE.delayed[event], undefined);
});
