// Waiting for another process.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const LIMIT_MS = 30_000;

/** Asks again until there is an answer, and returns it. `why` says what is missing at the limit. */
export async function soon(isSo, why) {
  for (const started = Date.now(); ; await delay(50)) {
    const answer = await isSo();
    if (answer) return answer;
    assert.ok(Date.now() - started < LIMIT_MS, why());
  }
}

/** Whether a process listens on a port of this machine. */
export async function listens(port) {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
