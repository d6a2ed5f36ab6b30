// Which agents answer, in words: the settings, the scores of the wake gate, and where talks end.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const {
  becauseText,
  dialsWith,
  endedWords,
  gateText,
  isScored,
  POLICIES,
  previewText,
  reportText,
  sourceWords,
  refusalWords,
} = await importSource(`
  export {
    becauseText, dialsWith, gateText, isScored, reportText,
  } from './src/studio/gate/gate_words.ts';
  export { previewText } from './src/page/composer/would_wake.ts';
  export { POLICIES } from './src/studio/settings/policies.ts';
  export { endedWords, refusalWords } from './src/why/outcomes.ts';
  export { sourceWords } from './src/why/words.ts';
`);

const REPORT = {
  messages: 412,
  fromSeq: 88,
  toSeq: 561,
  now: { wakes: 1236, answers: 231 },
  dials: [
    { dial: 'quiet', wakes: 310, answers: 190 },
    { dial: 'balanced', wakes: 452, answers: 219 },
    { dial: 'lively', wakes: 640, answers: 226 },
  ],
};

test('each dial says what it would have done', () => {
  const counts = dialsWith(REPORT).map(({ hint }) => /It would.*/.exec(hint)?.[0]);
  assert.deepEqual(counts, [
    'It would have kept 190 of 231 answers with 310 instead of 1,236 runs.',
    'It would have kept 219 of 231 answers with 452 instead of 1,236 runs.',
    'It would have kept 226 of 231 answers with 640 instead of 1,236 runs.',
  ]);
  assert.match(reportText(REPORT), / of the last 412 messages with scores\.$/);
  assert.match(reportText({ ...REPORT, messages: 1 }), / of the last message with scores\.$/);
});

test('without scores the dials say only what they are for', () => {
  const empty = { ...REPORT, messages: 0 };
  for (const report of [null, empty, { ...REPORT, dials: [] }])
    for (const { hint } of dialsWith(report)) assert.doesNotMatch(hint, /would have/);
  assert.equal(reportText(empty), 'No message has scores yet.');
});

test('messages have scores if the gate decides, or only notes', () => {
  const scored = (triggerPolicy, mode) => isScored({ triggerPolicy, gate: { mode } });
  assert.deepEqual(
    ['all', 'mention', 'partner', 'router', 'admin'].map((policy) =>
      ['on', 'shadow', 'off'].filter((mode) => scored(policy, mode)),
    ),
    [['shadow'], ['shadow'], ['shadow'], ['on', 'shadow'], ['shadow']],
  );
});

test('readers see the gate in a line', () => {
  const text = (mode) => gateText({ gate: { mode, dial: 'lively' } });
  assert.equal(text('on'), 'It decides (lively)');
  assert.equal(text('shadow'), 'It only notes what it would decide (lively)');
  assert.equal(text('off'), 'It is off');
});

test('the features of a score are words, and a new one shows as its code', () => {
  assert.equal(
    becauseText(['asked_sender', 'recent']),
    'when it wrote to the sender · how long ago it spoke',
  );
  assert.equal(becauseText(['named', 'time_of_day']), 'the message is for it · time of day');
  assert.equal(becauseText([]), '');
});

test('the end of a talk of agents names its limit', () => {
  const words = (by, limit) => endedWords({ by, limit });
  assert.equal(words('depth', 5), 'The agents stop here (5 in a row). Write to go on.');
  assert.equal(words('auto_replies', 3), 'The agents stop here (3 each). Write to go on.');
  assert.equal(words('rate', 60), 'The agents stop here (60 runs a minute). Write to go on.');
});

test('a preview has the decisions of the gate, and names those that the router decides', () => {
  const of = (...dispatch) =>
    previewText(
      dispatch.map(([agentId, more]) => ({ agentId, runId: null, ...more })),
      (id) => id,
    );
  const silent = { reason: 'router', reasonText: 'gate 0.03: Sara talks with Ana' };
  const woken = { source: 'router', reasonText: 'gate 0.62: Sara answers its question' };
  assert.equal(
    of(['Ben', silent], ['Cleo', woken]),
    'asks Cleo · not Ben (gate 0.03: Sara talks with Ana)',
  );
  assert.equal(
    of(['Ben', silent], ['Dan', { reason: 'router', reasonText: 'asks the router' }]),
    'the router chooses from Dan · not Ben (gate 0.03: Sara talks with Ana)',
  );
  assert.equal(of(['Dan', { reason: 'router' }]), 'the router chooses from Dan');
  assert.equal(of(['Ben', silent]), 'asks nobody · not Ben (gate 0.03: Sara talks with Ana)');
  assert.equal(of(), '');
});

test('a preview of many agents is a short line', () => {
  const many = (count, more) =>
    Array.from({ length: count }, (_, index) => ({ agentId: `A${index}`, runId: null, ...more }));
  const of = (...dispatch) => previewText(dispatch.flat(), (id) => id);
  assert.equal(of(many(2)), 'asks A0, A1');
  assert.equal(of(many(25)), 'asks 25 agents');
  const paused = many(3, { reason: 'paused' });
  assert.equal(of(many(25), paused), 'asks 25 agents · not 3 others (paused)');
  assert.equal(of(many(1), paused, many(1, { reason: 'busy' })), 'asks A0 · not 4 others');
});

test('each source, reason and policy has words', async () => {
  const description = new URL('../../../../docs/reference/openapi.json', import.meta.url);
  const { schemas } = JSON.parse(await readFile(description, 'utf8')).components;
  for (const source of schemas.Source.enum) assert.match(sourceWords(source), / /, source);
  const unnamed = schemas.Reason.enum.filter(
    (reason) => reason !== 'paused' && refusalWords(reason) === reason,
  );
  assert.deepEqual(unnamed, []);
  assert.deepEqual(
    POLICIES.map(({ value }) => value).sort(),
    [...schemas.TriggerPolicy.enum].sort(),
  );
});
