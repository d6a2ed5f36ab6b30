// Goals, plans and times as the tabs of an agent show them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { bytesText, cronWords, goalsIn, localText, timeOf } = await importSource(`
  export { cronWords } from './src/studio/agents/records/cron_words.ts';
  export { bytesText } from './src/files/file_words.ts';
  export { goalsIn } from './src/studio/agents/records/goal_words.ts';
  export { localText, timeOf } from './src/studio/agents/records/local_time.ts';
`);

test('common cron schedules have words, others have none', () => {
  const cases = [
    ['* * * * *', 'every minute'],
    ['*/15 * * * *', 'every 15 minutes'],
    ['5 * * * *', 'every hour at minute 5'],
    ['0 */2 * * *', 'every 2 hours at minute 0'],
    ['0 9 * * *', 'every day at 09:00'],
    ['0 9,14 * * *', 'every day at 09:00 and 14:00'],
    ['30 8 * * 1-5', 'Monday to Friday at 08:30'],
    ['30 8 * * mon-FRI', 'Monday to Friday at 08:30'],
    ['30 8 * * 1,3,7', 'on Monday, Wednesday and Sunday at 08:30'],
    ['0 0 1 * *', 'on day 1 of the month at 00:00'],
    ['0 0 1,15 JAN,7 *', 'on day 1 and 15 of the month at 00:00 in January and July'],
    ['0 0 1 * 1', 'on day 1 of the month or on Monday at 00:00'],
    ['*/5 * * * 1', 'every 5 minutes on Monday'],
    ['7,9 1-5/2 * * *', null],
    ['0 9 1-5/2 * *', null],
    ['0 9 * 13 *', null],
    ['@daily', null],
  ];
  for (const [cron, words] of cases) assert.equal(cronWords(cron), words, cron);
});

test('the most urgent goal is first, then the one that is due first', () => {
  const goal = (id, priority, dueAt = null, status = 'active') => ({ id, priority, dueAt, status });
  const goals = [
    goal('low', 5),
    goal('open', 1),
    goal('soon', 1, '2026-01-01T00:00:00Z'),
    goal('done', 1, null, 'completed'),
  ];
  assert.deepEqual(
    goalsIn(goals, 'active').map(({ id }) => id),
    ['soon', 'open', 'low'],
  );
});

test('a field holds a time to the minute, and an empty one no time', () => {
  const time = '2026-05-06T07:08:00.000Z';
  assert.equal(timeOf(localText(time)), time);
  assert.equal(localText(null), '');
  assert.equal(timeOf(''), null);
  assert.equal(timeOf(undefined), null);
});

test('lengths have a unit', () => {
  assert.equal(bytesText(31), '31 bytes');
  assert.equal(bytesText(1536), '1.5 KB');
  assert.equal(bytesText(2.5 * 1024 * 1024), '2.5 MB');
});
