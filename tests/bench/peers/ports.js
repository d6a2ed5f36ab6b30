// Free ports of the loopback interface, and processes that are started on them.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The URL of a server, once it listens on a free port. */
export async function listening(server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

/** A port that was free a moment ago. */
export async function freePort() {
  const server = createServer();
  await listening(server);
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A process and its output, which is shown if it ends by itself. */
export function start(command, args, env = {}) {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (data) => (output = (output + data).slice(-4_000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  let isStopping = false;
  const ended = new Promise((resolve) => child.on('exit', resolve));
  child.on('exit', (code) => {
    if (!isStopping) {
      console.error(`${command} ended with ${code}:\n${output}`);
      process.exit(1);
    }
  });
  const stop = async () => {
    isStopping = true;
    child.kill('SIGTERM');
    await ended;
  };
  return { pid: child.pid, stop };
}

/** Waits until a URL answers, for at most 30 seconds. */
export async function answering(url, headers = {}) {
  for (const until = Date.now() + 30_000; ;) {
    const answer = await fetch(url, { headers }).catch(() => null);
    if (answer?.ok) return;
    if (Date.now() > until) throw new Error(`${url} does not answer`);
    await sleep(20);
  }
}

/** What processes use: resident memory in MB, and processor time in ms. */
export function used(pids) {
  const all = pids.map((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    // The name of the program, in brackets, may contain spaces.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    return {
      memory: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024,
      processor: (Number(stat[11]) + Number(stat[12])) * 10,
    };
  });
  const sum = (field) => all.reduce((total, one) => total + one[field], 0);
  return { memory: sum('memory'), processor: sum('processor') };
}

/** Sends JSON, and returns the JSON that answers it. */
export async function post(url, body, headers = {}) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return text === '' ? null : JSON.parse(text);
}
