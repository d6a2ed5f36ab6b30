// The product under test: the built binary on a free port, with a table in memory and the demo
// space.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BINARY =
  process.env.SMARTSPACE_BIN ??
  fileURLToPath(new URL('../../target/debug/smartspace', import.meta.url));
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 5000;

/**
 * Starts the product with these further flags and waits until it is ready. Returns
 * `{base, adminKey, jwtSecret, stop}`.
 */
export async function startProduct(...furtherFlags) {
  const listen = `127.0.0.1:${await freePort()}`;
  const adminKey = `browser-tests-${crypto.randomUUID()}`;
  const jwtSecret = `${crypto.randomUUID()}${crypto.randomUUID()}`;
  const flags = [
    '--listen',
    listen,
    '--data',
    ':memory:',
    '--admin-key',
    adminKey,
    '--jwt-secret',
    jwtSecret,
    ...furtherFlags,
  ];
  const child = spawn(BINARY, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => (output = (output + data).slice(-4000)));
  const ended = once(child, 'exit');
  ended.catch((error) => (output += error.message));

  const base = `http://${listen}`;
  const isEnded = () =>
    child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  for (const started = Date.now(); !(await isHealthy(base)); await delay(50)) {
    if (isEnded() || Date.now() - started > START_LIMIT_MS) {
      child.kill('SIGKILL');
      throw new Error(`${BINARY} is not ready:\n${output}`);
    }
  }
  const stop = async () => {
    if (isEnded()) return;
    child.kill('SIGTERM');
    const killed = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await ended;
    clearTimeout(killed);
  };
  return { base, adminKey, jwtSecret, stop };
}

async function isHealthy(base) {
  try {
    return (await fetch(`${base}/healthz`, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
