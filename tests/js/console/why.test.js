// The drawer that explains a run: why an agent spoke, and why another stayed silent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  openSpace,
  openTab,
  signInAs,
  storedEntry,
  waitForBriefText,
  waitUntilFocused,
  waitUntilLive,
} from './console_page.js';
import { api, husam } from './suite.js';

const drawer = (page) => page.getByRole('complementary', { name: /^(Why|What)/ });
const section = (page, name) => drawer(page).getByRole('region', { name });

const say = (text) => ({ tool: 'send_message', input: { text } });
const speaks = [{ steps: [{ text: 'I know this.', calls: [say('It is blue.')] }] }];
const stays = [
  { steps: [{ calls: [{ tool: 'skip_response', input: { reason: 'Ana knows better.' } }] }] },
];
const fails = [{ steps: [{ error: 'bad_request' }] }];

/** A space in which one agent speaks, one stays silent, one fails, and one is paused. */
async function scene(name, settings = {}) {
  const rules = { Ana: speaks, Quinn: stays, Fay: fails, Pax: speaks };
  const agents = [];
  for (const each of Object.keys(rules)) agents.push(await api.createAgent(each, rules[each]));
  await api.pause(agents[3]);
  // A message of an agent wakes nobody.
  const space = await api.createSpace(name, [husam, ...agents], { maxChainDepth: 1, ...settings });
  await api.postMessage(space, husam, 'What color is it?');
  return space;
}

const outcome = (page, text) => page.getByRole('button', { name: text });

test('one click says why an agent spoke', async (t) => {
  await scene('Why');
  const page = await openTab(t);
  await openSpace(page, 'Why');
  await outcome(page, 'Ana spoke').click();
  await drawer(page).getByRole('heading', { name: 'Why did Ana speak?' }).waitFor();

  await section(page, 'What woke it').getByText('What color is it?').waitFor();
  await section(page, 'What woke it')
    .getByText(/^everyone is asked here \(broadcast\) · /)
    .waitFor();
  const decisions = section(page, 'What everyone decided');
  for (const [name, words] of [
    ['Ana', /spoke/],
    ['Quinn', /silent.*“Ana knows better\.”/],
    ['Fay', /failed/],
    ['Pax', /not woken.*paused/],
  ])
    await decisions.getByRole('row', { name }).filter({ hasText: words }).waitFor();
  // Names and states are whole.
  const heights = await decisions.locator('th, td:nth-child(2)').evaluateAll((cells) =>
    cells.map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return range.getBoundingClientRect().height;
    }),
  );
  assert.ok(Math.max(...heights) < 30, `${heights}`);
  await section(page, 'What it did').getByText('model · step 1').waitFor();
  await section(page, 'What it did').getByText('send_message').waitFor();
  await section(page, 'What it did').getByText('“I know this.”').waitFor();
  await section(page, 'What it read').getByText('INSTRUCTIONS:').waitFor();
});

test('the message says it too, and a failed run', async (t) => {
  await scene('Said by messages');
  const page = await openTab(t);
  await openSpace(page, 'Said by messages');
  const spoken = storedEntry(page, 'It is blue.');
  await spoken.hover();
  await spoken.getByRole('button', { name: 'Why?' }).click();
  await drawer(page).getByRole('heading', { name: 'Why did Ana speak?' }).waitFor();

  const failed = page.locator('.entry[data-state="failed"]');
  await failed.hover();
  await failed.getByRole('button', { name: 'Why?' }).click();
  await drawer(page).getByRole('heading', { name: 'Why did Fay fail?' }).waitFor();
  await section(page, 'What it did').getByText('(bad_request)').waitFor();

  await section(page, 'What everyone decided').getByRole('button', { name: 'Quinn' }).click();
  await drawer(page).getByRole('heading', { name: 'Why did Quinn stay silent?' }).waitFor();
});

test('the drawer has an address, and the keyboard opens and closes it', async (t) => {
  const space = await scene('By keyboard');
  const page = await openTab(t);
  await openSpace(page, 'By keyboard');
  await outcome(page, /^1 silent, 1 not woken/).click();
  const chip = page
    .getByRole('list', { name: 'The reasons' })
    .getByRole('button', { name: 'Quinn' });
  await chip.focus();
  await page.keyboard.press('Enter');
  const heading = drawer(page).getByRole('heading', { name: 'Why did Quinn stay silent?' });
  await heading.waitFor();
  await waitUntilFocused(heading);
  assert.match(page.url(), new RegExp(`#/s/${space.id}\\?why=run_`));
  await page.keyboard.press('Escape');
  await drawer(page).waitFor({ state: 'detached' });
  await waitUntilFocused(chip);
  assert.match(page.url(), new RegExp(`#/s/${space.id}$`));

  await page.goBack();
  await heading.waitFor();
  await page.reload();
  await waitUntilLive(page);
  await heading.waitFor();
  await drawer(page).getByRole('button', { name: 'Close' }).click();
  await drawer(page).waitFor({ state: 'detached' });
});

test('a member sees who decided what, but no prompt and no steps', async (t) => {
  const space = await scene('As a member');
  const page = await openTab(t);
  await signInAs(page, husam, `#/s/${space.id}`);
  await outcome(page, 'Ana spoke').click();
  await section(page, 'What everyone decided').getByRole('row', { name: 'Quinn' }).waitFor();
  await section(page, 'What it did').getByText('Operators also see each step').waitFor();
  assert.equal(await section(page, 'What it read').count(), 0);
  assert.equal(await section(page, 'What it did').getByText('model · step').count(), 0);
});

test('the scores of the gate are words, and members do not see them', async (t) => {
  const space = await scene('Scores', { gate: { mode: 'shadow', dial: 'lively' } });
  const scores = (page) => drawer(page).getByRole('table', { name: 'Scores of the gate' });
  const page = await openTab(t);
  await openSpace(page, 'Scores');
  await outcome(page, 'Ana spoke').click();
  const decided = section(page, 'What everyone decided');
  await decided.getByText('what the gate would have decided (lively)').waitFor();
  // All agents but the paused one.
  for (const name of ['Ana', 'Quinn', 'Fay'])
    await scores(page)
      .getByRole('row', { name })
      .filter({ hasText: /[01]\.\d\d: (wake it|leave it silent)/ })
      .waitFor();

  const other = await openTab(t);
  await signInAs(other, husam, `#/s/${space.id}`);
  await outcome(other, 'Ana spoke').click();
  await section(other, 'What it did').getByText('Operators also see each step').waitFor();
  assert.equal(await scores(other).count(), 0);
});

test('a run that does not exist is said so', async (t) => {
  const space = await scene('No such run');
  const page = await openTab(t, { expected: [/404/] });
  await openSpace(page, 'No such run');
  await page.goto(`${page.url().split('#')[0]}#/s/${space.id}?why=run_00000000000000000000000000`);
  await drawer(page).getByRole('alert').waitFor();
});

test('an answer and its address can be copied', async (t) => {
  const space = await scene('Copied');
  const page = await openTab(t);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await openSpace(page, 'Copied');
  const spoken = storedEntry(page, 'It is blue.');
  await spoken.hover();
  const copy = spoken.getByRole('button', { name: 'Copy' });
  await waitForBriefText(page, '.entry button', 'Copied', () => copy.click());
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'It is blue.');
  await spoken.getByRole('button', { name: 'Link' }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes('/m/'));
  const address = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(address, new RegExp(`#/s/${space.id}/m/2$`));
});

test('the message that was asked about stays in sight beside the drawer', async (t) => {
  const ana = await api.createAgent('Ana', speaks);
  const space = await api.createSpace('Beside the drawer', [husam, ana], { maxChainDepth: 1 });
  await api.postMessage(space, husam, 'What color is it?');
  const page = await openTab(t);
  await openSpace(page, 'Beside the drawer');
  const spoken = storedEntry(page, 'It is blue.');
  await spoken.waitFor();
  await api.pause(ana);
  // A narrower window wraps them, so that the end is further below the answer.
  const last = `${'many words '.repeat(40)}end`;
  for (let n = 0; n < 3; n += 1) await api.postMessage(space, husam, `${n} ${last}`);
  await api.postMessage(space, husam, last);
  await storedEntry(page, last).waitFor();
  // At the end, the answer is the first line in the window.
  const missing = await spoken.evaluate(heightMissing);
  await page.setViewportSize({ width: 1100, height: 800 + missing });
  await page.waitForFunction(isAtEnd);
  await spoken.hover();
  await spoken.getByRole('button', { name: 'Why?' }).click();
  await drawer(page).getByRole('heading', { name: 'Why did Ana speak?' }).waitFor();
  await page.waitForFunction(isInSight, await spoken.elementHandle());
});

// These run in the page.
const heightMissing = (entry) => {
  const { scrollHeight, scrollTop, clientHeight } = entry.closest('.log');
  const top = entry.getBoundingClientRect().top - entry.closest('.log').getBoundingClientRect().top;
  return Math.ceil(scrollHeight - scrollTop - top + 16 - clientHeight);
};

const isAtEnd = () => {
  const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.log');
  return scrollHeight - scrollTop - clientHeight < 2;
};

const isInSight = (entry) => {
  const [inner, outer] = [entry, entry.closest('.log')].map((each) => each.getBoundingClientRect());
  return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
};
