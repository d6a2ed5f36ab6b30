// Each mechanism of the client has a mutant, which the model finds. What seeds reach too seldom has
// a mutant that the tests with frames of their own find.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { play } from './model/play.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(PACKAGE, 'dist');
const MOST_SEEDS = 1000;

/** A change of one place in a built file: what it breaks, where, and how. */
const MUTANTS = [
  ['fetches no missing messages', 'history.js', "timers.has('fill') ||", 'true ||'],
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
  ['shows a send beside its message', 'sends.js', 'shows(parts, send)', 'false'],
  [
    'repeats a send under another key',
    'space.js',
    'idempotencyKey: key',
    'idempotencyKey: key + Math.random()',
  ],
  [
    'forgets sends with the page',
    'outbox.js',
    'kept.set(prefix + key, JSON.stringify({ ...send',
    'void (prefix + key, JSON.stringify({ ...send',
  ],
  [
    'gives up a send whose answer was lost',
    'outbox.js',
    'if (isTemporary(error)) {',
    'if (false) {',
  ],
  ['forgets at loading what it has sent', 'history.js', 'own.forEach(messages.put)', ''],
  [
    'believes late states of ended runs',
    'runs.js',
    'hasEnded(runId) || orderOf(current) > orderOf(run)',
    'false',
  ],
  [
    'keeps the active runs of before',
    'space_runs.js',
    'isRunMissing = runs.replaceActive(active) || isRunMissing;',
    '',
  ],
  [
    'looks up nothing after a break',
    'space.js',
    "timers.persist('refresh', refresh);\n        presence.tell();",
    'presence.tell();',
  ],
  [
    'looks up nothing after silence',
    'space.js',
    '< (isSettled ? LONGEST_STALE_MS : staleMs)',
    '< Infinity',
  ],
  ['believes overtaken settings', 'space.js', 'frame.at < infoAt', 'false'],
  [
    'moves read positions back',
    'info.js',
    'Math.max(each.readSeq, member(each.id)?.readSeq ?? 0)',
    'each.readSeq',
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

/** Found by the tests with frames of their own. */
const FOUND_BY_TESTS = [
  ['believes settings that an event has overtaken', 'space.js', 'infoAt !== before', 'false'],
  [
    'looks for the message of a stream only at the end',
    'space.js',
    'messages.gap() ?? messages.last',
    'messages.last',
  ],
  [
    'waits for the lost answer to a subscription',
    'connection.js',
    'SUBSCRIBE_LIMIT_MS, () => subscribe',
    'SUBSCRIBE_LIMIT_MS, () => void',
  ],
  [
    'connects without a pause to a server that restarts again and again',
    'connection.js',
    'STEADY_MS, () => (lostAt = 0)',
    '0, () => (lostAt = 0)',
  ],
  ['mixes an older page into another place', 'history.js', 'if (mine !== messages)', 'if (false)'],
  [
    'asks for ever for older messages',
    'history.js',
    'isComplete = page.length === 0',
    'isComplete = false',
  ],
  [
    'trusts the clock of the machine',
    'presence.js',
    'aheadMs = now - Date.parse(frame.at)',
    'aheadMs = 0',
  ],
  ['forgets a read position', 'space.js', 'if (unsentRead > 0)', 'if (false)'],
  ['sets timers that are too long', 'timers.js', 'Math.min(delayMs, LONGEST_TIMER_MS)', 'delayMs'],
  ['sends what another tab has discarded', 'outbox.js', 'if (isDiscarded(key))', 'if (false)'],
  [
    'sends again what another tab has sent again',
    'outbox.js',
    'return wasDiscarded ? undefined : send',
    'return send',
  ],
  ['gives up at a refused token', 'http.js', 'error.isTemporary ||=', 'error.isTemporary &&='],
  ['does not look whose a token is', 'http.js', 'if (before) {', 'if (false) {'],
  ['asks for a token for each call', 'http.js', '(asked ??= newToken()', '(asked = newToken()'],
  ['keeps the connection of a closed client', 'client.js', 'connection.close();\n', ''],
];

/** The folder of a library that the mutant has changed. */
async function mutated(t, file, from, to) {
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
  return folder;
}

for (const [name, file, from, to] of MUTANTS)
  test(`the model finds a client that ${name}`, async (t) => {
    const folder = await mutated(t, file, from, to);
    const { createClient } = await import(join(folder, 'index.js'));
    let found = null;
    for (let seed = 1; seed <= MOST_SEEDS && !found; seed += 1)
      await play(createClient, seed).catch((error) => (found = error.message));
    assert.ok(found, `${MOST_SEEDS} seeds find nothing`);
    t.diagnostic(found.split('\n')[0]);
  });

for (const [name, file, from, to] of FOUND_BY_TESTS)
  test(`a test finds a client that ${name}`, async (t) => {
    const env = { ...process.env, CLIENT_DIST: await mutated(t, file, from, to) };
    // The runner of these tests must not take part in this one's report.
    delete env.NODE_TEST_CONTEXT;
    const files = ['connection', 'http', 'outbox', 'room'].map((each) => `tests/${each}.test.js`);
    const run = promisify(execFile)('node', ['--test', '--test-reporter=tap', ...files], {
      cwd: PACKAGE,
      env,
    });
    const { stdout } = await run.catch((error) => error);
    const [failed] = stdout.match(/^not ok .*/m) ?? [];
    assert.ok(failed, 'no test fails');
    t.diagnostic(failed);
  });
