// The roll call and the failures of a room with many agents: one line each.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTab, send, signInAs, storedEntry } from './console_page.js';
import { answerRule, ApiClient, tokenOf } from '../api_client.js';
import { startProduct } from '../product.js';
import { api, husam } from './suite.js';

const PHONE = { width: 390, height: 844 };
const MOST_PX = 90;
const VARIABLE = /ANTHROPIC_API_KEY|OPENAI_API_KEY/;

const skip = (reason) => [{ steps: [{ calls: [{ tool: 'skip_response', input: { reason } }] }] }];
const line = (page, seq) => page.locator(`.entry[data-seq="${seq}"] .roll-call`);

test('with 25 agents a message of one line takes 90 pixels at most', async (t) => {
  const agents = [await api.createAgent('Ana', [answerRule('Yes, since 02:38.')])];
  for (let count = 1; count <= 24; count += 1) {
    const name = `Team assistant ${String(count).padStart(2, '0')}`;
    agents.push(await api.createAgent(name, skip('This is not for me.')));
  }
  const space = await api.createSpace('All hands', [husam, ...agents], { maxChainDepth: 1 });
  const page = await openTab(t, { viewport: PHONE });
  await signInAs(page, husam, `#/s/${space.id}`);
  await send(page, 'Is the release done?');
  await storedEntry(page, 'Yes, since 02:38.').waitFor();
  await line(page, 1).getByRole('button', { name: '24 silent' }).waitFor();
  assert.match(await line(page, 1).innerText(), /^Ana spoke\s+24 silent ▸$/);
  const heights = await page.locator('.bubble').evaluateAll((bubbles) =>
    bubbles.map((bubble) => {
      const { marginTop, marginBottom } = getComputedStyle(bubble);
      return bubble.offsetHeight + parseFloat(marginTop) + parseFloat(marginBottom);
    }),
  );
  assert.equal(heights.length, 2);
  assert.ok(
    heights.every((height) => height <= MOST_PX),
    heights.join(),
  );

  await line(page, 1).getByRole('button', { name: '24 silent' }).click();
  const reasons = page.getByRole('list', { name: 'The reasons' });
  const [row] = await reasons.getByRole('listitem').allInnerTexts();
  assert.match(row, /^Team assistant 01–24 ▸\s+“This is not for me\.”$/);
  await reasons.getByRole('button', { name: 'Team assistant 01–24' }).click();
  await reasons.getByRole('button', { name: 'Team assistant 24' }).click();
  await page.getByRole('heading', { name: 'Why did Team assistant 24 stay silent?' }).waitFor();
});

// A product without keys. It stops after the tabs of the tests are closed.
let open;
after(() => open?.stop());

test('a missing key is said once, and only to the operator with its way out', async (t) => {
  open = await startProduct('--invites', 'guests');
  const api = new ApiClient(open);
  const [husam, sarah] = [await api.createPerson('Husam'), await api.createPerson('Sarah')];
  const show = async (key, space) => {
    const page = await openTab(t);
    await page.goto(`${open.base}/#${key}`);
    await page.waitForURL((url) => !/^#(key|token)=/.test(url.hash));
    await page.goto(`${open.base}/#/s/${space.id}`);
    return page;
  };
  const bot = await api.createModelAgent('Assistant', 'anthropic', 'claude-sonnet-4-5', 'Help.');
  const space = await api.createSpace('No key', [husam, sarah, bot]);
  const guest = await api.acceptAsGuest(await api.createInvite(space), 'Kim');
  for (const text of ['Are you there?', 'Hello?', 'Anybody?']) {
    await api.postMessage(space, husam, text);
    await api.waitFor(async () => (await api.runs(space)).every((run) => run.finishedAt));
  }
  const failures = (page) => page.locator('.entry[data-state="failed"]');
  const shown = async (page) => (await page.locator('body').innerText()).match(VARIABLE);

  const operators = await show(`key=${open.adminKey}`, space);
  await failures(operators)
    .getByText(/^Assistant cannot answer: no key .*3 times since/)
    .waitFor();
  assert.equal(await failures(operators).count(), 1);
  assert.equal(await shown(operators), null);
  await failures(operators).getByRole('link', { name: 'Set up the model' }).click();
  await operators.getByRole('heading', { level: 1, name: 'Assistant' }).waitFor();

  const hers = await show(`token=${tokenOf(sarah, open.jwtSecret)}`, space);
  await failures(hers).getByText('Assistant cannot answer at the moment.').waitFor();
  await failures(hers).getByRole('button', { name: 'Retry' }).waitFor();
  assert.equal(await hers.getByRole('link', { name: 'Set up the model' }).count(), 0);

  const theirs = await show(`token=${guest.token}`, space);
  await failures(theirs).getByText('Assistant cannot answer at the moment.').waitFor();
  assert.equal(await failures(theirs).getByRole('button').count(), 0);
  await line(theirs, 1).getByRole('button', { name: 'Assistant failed' }).click();
  await theirs.getByText('It cannot answer at the moment.').waitFor();
  assert.equal(await shown(theirs), null);
});
