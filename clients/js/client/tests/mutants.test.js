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
  [
    'fetches no missing messages',
    'space/loading.js',
    'isKnown(draft) && gapOf(draft) !== null',
    'false',
  ],
  [
    'takes older states of messages',
    'space/message_states.js',
    'message.rev > current.rev ||',
    'true ||',
  ],
  [
    'reopens streams that a message replaced',
    'space/streams.js',
    'remembering(draft.closedStreams, ids)',
    'draft.closedStreams',
  ],
  ['counts tool cards as unread', 'space/unread.js', "type === 'tool'", 'false'],
  ['keeps the first try of a call', 'space/streams.js', 'if (isStart)', 'if (false)'],
  ['puts deltas together as they come', 'space/streams.js', 'at > text.length', 'false'],
  [
    'drops a stream before its message',
    'space/stream_lifetime.js',
    'frame.reason && !frame.messageId',
    'true',
  ],
  [
    'gives a message another key than its stream',
    'space/timeline.js',
    'message.streamId ?? message.id',
    'message.id',
  ],
  ['shows a send beside its message', 'space/claims.js', 'isOf(message, send)', 'false'],
  [
    'repeats a send under another key',
    'space/interpreter.js',
    'idempotencyKey: key',
    'idempotencyKey: key + Math.random()',
  ],
  [
    'forgets sends with the page',
    'space/send_storage.js',
    'storage.set(prefix + key, JSON.stringify({ ...send',
    'void (key, JSON.stringify({ ...send',
  ],
  [
    'gives up a send whose answer was lost',
    'space/outbox.js',
    'if (isTemporary(error))',
    'if (false)',
  ],
  ['forgets at loading what it has sent', 'space/history.js', 'putMessages(draft, messages);', ''],
  [
    'believes late states of ended runs',
    'space/runs.js',
    'hasEnded({ runs }, runId) || isOlder(run, current)',
    'false',
  ],
  ['keeps the active runs of before', 'space/frame_changes.js', 'putActive(draft, active);', ''],
  [
    'looks up nothing after a break',
    'space/frame_changes.js',
    'refresh(draft);\n    showPresence(draft);',
    'showPresence(draft);',
  ],
  [
    'looks up nothing after silence',
    'space/frame_changes.js',
    '< (isFinished ? LONGEST_STALE_MS : staleMs)',
    '< Infinity',
  ],
  ['believes overtaken settings', 'space/members.js', 'at < draft.infoAt', 'false'],
  [
    'moves read positions back',
    'space/members.js',
    'Math.max(each.readSeq, memberOf(draft, each.id)?.readSeq ?? 0)',
    'each.readSeq',
  ],
  [
    'waits long after a short outage',
    'limits.js',
    'const FIRST_DELAY_MS = 500',
    'const FIRST_DELAY_MS = 10000',
  ],
  [
    'closes the old socket before the new one is ready',
    'connection/actions.js',
    "timers.clear('retry');",
    "timers.clear('retry');\n    closeSocket(parts.link);\n    parts.link = null;",
  ],
  [
    'keeps a socket for more than two hours',
    'limits.js',
    'const ROLL_OVER_MS = 6_600_000',
    'const ROLL_OVER_MS = 66_000_000',
  ],
  ['keeps the old socket', 'connection/actions.js', 'closeSocket(isNew ? parts.link : next);', ''],
  ['pings without the last seq', 'connection/actions.js', 'spaces: Object', 'none: Object'],
  [
    'does not number subscriptions',
    'connection/subscriptions.js',
    'n: (parts.lastN += 1),',
    'n: 0,',
  ],
  [
    'forgets reactions that came before their message',
    'space/history.js',
    'draft.reactions.get(seq)',
    'undefined',
  ],
  [
    'looks up no edits after a break',
    'space/frame_changes.js',
    'draft.isOutdated || draft.messages.length > 0',
    'false',
  ],
  ['keeps what the server refused', 'space/optimistic.js', 'each !== change', 'true'],
  ['loads no parents', 'space/threads.js', "emit(draft, 'job', 'parent', seq);", ''],
  ['adds no replies to a thread', 'space/elsewhere.js', 'threads.has(message.thread ?? 0) ||', ''],
];

/** Found by the tests with frames of their own, each by those of one file. */
const FOUND_BY_TESTS = [
  [
    'loading',
    'believes settings that an event has overtaken',
    'space/jobs.js',
    'state().infoAt !== infoAt',
    'false',
  ],
  [
    'messages',
    'looks for the message of a stream only at the end',
    'space/jobs.js',
    'gapOf(state) ?? lastSeq(state)',
    'lastSeq(state)',
  ],
  [
    'connection',
    'waits for the lost answer to a subscription',
    'connection/subscriptions.js',
    'SUBSCRIBE_LIMIT_MS, () => subscribe(parts, link, spaceId)',
    'SUBSCRIBE_LIMIT_MS, () => {}',
  ],
  [
    'connection',
    'connects without a pause to a server that restarts again and again',
    'connection/actions.js',
    "'steady', STEADY_MS",
    "'steady', 0",
  ],
  [
    'loading',
    'mixes an older page into another place',
    'space/loading.js',
    'if (epoch !== draft.epoch)',
    'if (false)',
  ],
  [
    'loading',
    'asks for ever for older messages',
    'space/loading.js',
    'isComplete: page.items.length === 0',
    'isComplete: false',
  ],
  [
    'room',
    'trusts the clock of the machine',
    'space/presence.js',
    'aheadMs: now - Date.parse(frame.at)',
    'aheadMs: 0',
  ],
  [
    'room',
    'forgets a read position',
    'space/frame_changes.js',
    'if (draft.unsentRead > 0)',
    'if (false)',
  ],
  [
    'connection',
    'sets timers that are too long',
    'timers.js',
    'Math.min(delayMs, LONGEST_TIMER_MS)',
    'delayMs',
  ],
  [
    'outbox',
    'sends what another tab has discarded',
    'space/interpreter.js',
    'sendStorage.isMarked(key)',
    'false',
  ],
  [
    'outbox',
    'sends again what another tab has sent again',
    'space/outbox.js',
    'if (isMarked)',
    'if (false)',
  ],
  [
    'http',
    'gives up at a refused token',
    'http.js',
    'error.isTemporary ||=',
    'error.isTemporary &&=',
  ],
  ['http', 'does not look whose a token is', 'tokens.js', 'if (before && ', 'if (false && '],
  [
    'http',
    'asks for a token for each call',
    'tokens.js',
    '(asked ??= newToken()',
    '(asked = newToken()',
  ],
  ['http', 'keeps the connection of a closed client', 'client.js', 'connection.close();\n', ''],
  [
    'room',
    'keeps a run that has ended among the active ones',
    'space/runs.js',
    'active.delete(runId)',
    'void runId',
  ],
  [
    'loading',
    'takes the settings of whichever frame came last',
    'space/members.js',
    'draft.infoAt = at;',
    '',
  ],
  [
    'connection',
    'confirms a subscription with the answer to an earlier unsubscription',
    'connection/sockets.js',
    "frame.type === 'unsubscribed' && frame.reason",
    "frame.type === 'unsubscribed'",
  ],
  ['spaces', 'starts an attempt beside another one', 'timers.js', 'if (!current)', 'if (true)'],
  ['run', 'keeps an older state of a run', 'run.js', 'number !== newest', 'false'],
  [
    'outbox',
    'keeps the pause of a discarded send',
    'space/outbox.js',
    'draft.mustWait = false;',
    '',
  ],
  [
    'outbox',
    'posts before it knows what an earlier page left',
    'space/outbox.js',
    'if (!draft.isRestored)',
    'if (false)',
  ],
  ['http', 'stores a send of a closed client', 'space/messages.js', 'throw closed;', ''],
  [
    'outbox',
    'takes an old message for a send from before the load',
    'space/outbox.js',
    'isKnown(draft) ? lastSeq(draft) : AFTER_ALL',
    'lastSeq(draft)',
  ],
  [
    'outbox',
    'takes no message for a send from before the load',
    'space/opening.js',
    'Math.min(send.afterSeq, space.seq)',
    'send.afterSeq',
  ],
  [
    'outbox',
    'stores again what the next client has sent',
    'space/send_storage.js',
    'if (!closedBy())',
    'if (true)',
  ],
  [
    'forms',
    'opens a closed form again',
    'space/frame_changes.js',
    '...added, ...draft.forms]',
    '...added]',
  ],
  [
    'loading',
    'hears no events of a listed space while it loads',
    'space/interpreter.js',
    'state().isFollowing',
    'state().isOpen',
  ],
  [
    'changes',
    'takes what follows a tombstone',
    'space/message_states.js',
    'current.deleted || message.deleted',
    'false',
  ],
  [
    'changes',
    'makes changes of one message at once',
    'space/message_changes.js',
    'last.set(seq, work);',
    '',
  ],
  [
    'changes',
    'shows an old parent',
    'space/elsewhere.js',
    'message.deleted || (rev > parent.rev && !parent.parent?.deleted)',
    'false',
  ],
  [
    'loading',
    'adds to a list that an earlier state has',
    'space/history.js',
    'draft.messages = [...messages.values()]',
    'draft.messages.splice(0, Infinity, ...messages.values()); draft.messages',
  ],
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

for (const [suite, name, file, from, to] of FOUND_BY_TESTS)
  test(`a test finds a client that ${name}`, async (t) => {
    const env = { ...process.env, CLIENT_DIST: await mutated(t, file, from, to) };
    // The runner of these tests must not take part in this one's report.
    delete env.NODE_TEST_CONTEXT;
    const run = promisify(execFile)(
      'node',
      ['--test', '--test-reporter=tap', `tests/${suite}.test.js`],
      {
        cwd: PACKAGE,
        env,
      },
    );
    const { stdout } = await run.catch((error) => error);
    const [failed] = stdout.match(/^not ok .*/m) ?? [];
    assert.ok(failed, 'no test fails');
    t.diagnostic(failed);
  });
