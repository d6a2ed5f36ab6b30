// Each mechanism of the client has a mutant, which the model finds.

import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { play } from './model/play.js';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const MOST_SEEDS = 1000;

/** A change of one place in a built file: what it breaks, where, and how. */
const MUTANTS = [
  ['fetches no missing messages', 'space.js', "timers.has('fill') ||", 'true ||'],
  ['takes older states of messages', 'messages.js', 'current.rev > rev', 'false'],
  ['reopens streams that a message replaced', 'streams.js', 'closed.add(streamId);', ''],
  ['keeps the first try of a call', 'streams.js', 'supersede(stream);', ''],
  ['puts deltas together as they come', 'streams.js', 'at > stream.text.length', 'false'],
  ['drops a stream before its message', 'space.js', 'frame.reason && !frame.messageId', 'true'],
  [
    'gives a message another key than its stream',
    'timeline.js',
    'message.streamId ?? message.id',
    'message.id',
  ],
  ['shows a send beside its message', 'space.js', 'part.text === text', 'false'],
  [
    'repeats a send under another key',
    'space.js',
    'idempotencyKey: key',
    'idempotencyKey: key + Math.random()',
  ],
  ['forgets sends with the page', 'outbox.js', 'env.storage?.setItem(', 'void ('],
  [
    'gives up a send whose answer was lost',
    'outbox.js',
    'if (isTemporary(error)) {',
    'if (false) {',
  ],
  ['forgets at loading what it has sent', 'space.js', 'own.forEach(messages.put)', ''],
  [
    'believes late states of ended runs',
    'runs.js',
    'hasEnded(runId) || orderOf(current) > orderOf(run)',
    'false',
  ],
  [
    'keeps the active runs of before',
    'space.js',
    'isRunMissing = runs.replaceActive(active) || isRunMissing;',
    '',
  ],
  [
    'looks up nothing after a break',
    'space.js',
    "timers.persist('refresh', refresh);\n        tellPresence();",
    'tellPresence();',
  ],
  [
    'looks up nothing after silence',
    'space.js',
    '< (isSettled ? LONGEST_STALE_MS : staleMs)',
    '< Infinity',
  ],
  ['believes overtaken settings', 'space.js', 'frame.at < spaceAt', 'false'],
  [
    'moves read positions back',
    'space.js',
    'Math.max(member.readSeq, readBefore.get(member.id) ?? 0)',
    'member.readSeq',
  ],
  [
    'waits long after a short outage',
    'connection.js',
    'const FIRST_DELAY_MS = 500',
    'const FIRST_DELAY_MS = 10000',
  ],
  [
    'closes the old socket before the new one is ready',
    'connection.js',
    "clear('retry');\n        const mine",
    "clear('retry');\n        close(link);\n        link = null;\n        const mine",
  ],
  [
    'keeps a socket for more than two hours',
    'connection.js',
    'const ROLL_OVER_MS = 110',
    'const ROLL_OVER_MS = 1100',
  ],
  [
    'keeps the old socket',
    'connection.js',
    'close(link);\n            link = opened;',
    'link = opened;',
  ],
  [
    'pings without the last seq',
    'connection.js',
    'spaces: Object.fromEntries(',
    'none: Object.fromEntries(',
  ],
  ['does not number subscriptions', 'connection.js', 'n: (lastN += 1)', 'n: 0'],
];

for (const [name, file, from, to] of MUTANTS)
  test(`the model finds a client that ${name}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'smartspace-mutant-'));
    t.after(() => rm(folder, { recursive: true }));
    await cp(DIST, folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    const text = await readFile(join(folder, file), 'utf8');
    assert.equal(text.split(from).length, 2, `${file} has "${from}" once`);
    await writeFile(
      join(folder, file),
      text.replace(from, () => to),
    );
    const { createClient } = await import(join(folder, 'index.js'));
    let found = null;
    for (let seed = 1; seed <= MOST_SEEDS && !found; seed += 1)
      await play(createClient, seed).catch((error) => (found = error.message));
    assert.ok(found, `${MOST_SEEDS} seeds find nothing`);
    t.diagnostic(found.split('\n')[0]);
  });
