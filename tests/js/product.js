// The product under test: the built binary on a free port, with a table in memory and the demo
// space.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BINARY =
  process.env.SMARTSPACE_BIN ??
  fileURLToPath(new URL('../../target/checked/smartspace-under-test', import.meta.url));
const PRICES = fileURLToPath(new URL('./prices.json', import.meta.url));
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 5000;
const MOST_PORTS = 5;

/**
 * Starts the product with these further flags, and a last `{environment}` if it needs further
 * variables, and waits until it is ready. Returns
 * `{base, adminKey, jwtSecret, stop, kill, restart}`: `kill` ends it without a warning, and
 * `restart` starts it again at the same address. Without a `--data` flag the table is in memory.
 */
export async function startProduct(...given) {
  const { environment = {} } = given.find((each) => typeof each === 'object') ?? {};
  const furtherFlags = given.filter((each) => typeof each === 'string');
  const adminKey = `browser-tests-${crypto.randomUUID()}`;
  const jwtSecret = `${crypto.randomUUID()}${crypto.randomUUID()}`;
  const flags = ['--admin-key', adminKey, '--jwt-secret', jwtSecret];
  if (!furtherFlags.includes('--data')) flags.push('--data', ':memory:');
  // Scripts cost nothing unless they have a price.
  if (!furtherFlags.includes('--prices')) flags.push('--prices', PRICES);
  flags.push(...furtherFlags);
  let { child, address } = await startSomewhere(flags, adminKey, environment);
  return {
    base: `http://${address}`,
    adminKey,
    jwtSecret,
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
    restart: async () => void (child = await start(address, flags, adminKey, environment)),
  };
}

// Another process may take the free port first.
async function startSomewhere(flags, adminKey, environment) {
  for (let attempt = 1; ; attempt += 1) {
    const address = `127.0.0.1:${await freePort()}`;
    try {
      return { child: await start(address, flags, adminKey, environment), address };
    } catch (error) {
      if (attempt === MOST_PORTS || !/in use/i.test(error.message)) throw error;
    }
  }
}

async function start(address, flags, adminKey, environment) {
  const env = { ...process.env, ...environment };
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = spawn(BINARY, ['--listen', address, ...flags], { env, stdio });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => (output = (output + data).slice(-4000)));
  child.on('error', (error) => (output += error.message));
  for (const started = Date.now(); !(await isReady(address, adminKey)); await delay(50)) {
    if (hasEnded(child) || Date.now() - started > START_LIMIT_MS) {
      child.kill('SIGKILL');
      throw new Error(`${BINARY} is not ready:\n${output}`);
    }
  }
  return child;
}

async function end(child, signal) {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const killed = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(killed);
}

const hasEnded = ({ exitCode, signalCode, pid }) =>
  exitCode !== null || signalCode !== null || pid === undefined;

// Whether the product that knows the key answers, and not another one at the same port.
async function isReady(address, adminKey) {
  const headers = { authorization: `Bearer ${adminKey}` };
  const ask = (path) =>
    fetch(`http://${address}${path}`, { headers, signal: AbortSignal.timeout(5000) });
  try {
    return (await ask('/healthz')).ok && (await ask('/v1/spaces?limit=1')).ok;
  } catch {
    return false;
  }
}

/** A port that is free now. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
