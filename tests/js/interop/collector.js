// An OTLP collector: Rotel's agent, unmodified, which prints the spans that it receives.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../product.js';
import { listens, soon } from './waiting.js';

const PYTHON = process.env.PYTHON ?? 'python3';

/** Starts a collector. Returns its address, and a function that waits for spans. */
export async function startCollector(t) {
  const folder = mkdtempSync(join(tmpdir(), 'smartspace-collector-'));
  const program =
    'import pathlib, rotel; print(pathlib.Path(rotel.__file__).parent / "rotel-agent")';
  const agent = execFileSync(PYTHON, ['-c', program], { encoding: 'utf8' }).trim();
  const [http, grpc] = [await freePort(), await freePort()];
  const flags = ['--otlp-http-endpoint', `127.0.0.1:${http}`];
  flags.push('--otlp-grpc-endpoint', `127.0.0.1:${grpc}`, '--exporter', 'blackhole');
  flags.push('--debug-log', 'traces', '--debug-log-verbosity', 'detailed');
  flags.push('--pid-file', join(folder, 'pid'), '--log-file', join(folder, 'log'));
  const child = spawn(agent, ['start', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  t.after(async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  });
  await soon(
    () => listens(http),
    () => `the collector is not ready:\n${output}`,
  );
  /** Waits until so many spans have come, and returns them. */
  const spans = (count) =>
    soon(
      () => {
        const found = spansIn(output);
        return found.length >= count && found;
      },
      () => `${spansIn(output).length} spans:\n${output}`,
    );
  return { url: `http://127.0.0.1:${http}`, spans };
}

/** The spans in the collector's output. */
function spansIn(output) {
  return output
    .split(/^Span #\d+\n/m)
    .slice(1)
    .map((text) => {
      const field = (name) => new RegExp(`^\\s*${name}\\s*: ?(.*)$`, 'm').exec(text)?.[1];
      const attributes = {};
      for (const [, name, type, value] of text.matchAll(/^ +-> (\S+): (\w+)\((.*)\)$/gm))
        attributes[name] = type === 'Int' ? Number(value) : value;
      return {
        trace: field('Trace ID'),
        parent: field('Parent ID'),
        id: field('ID'),
        name: field('Name'),
        kind: field('Kind'),
        status: field('Status code'),
        attributes,
      };
    });
}
