// The second tab of the drawer: the chain of messages and runs, and where it ended.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSpace, openTab, signInAs, waitUntilFocused } from './console_page.js';
import { api, husam } from './suite.js';

const NAMED = { name: /^(Why|What)/ };
// In a narrow window the drawer is the page.
const drawer = (page) => page.getByRole('complementary', NAMED).or(page.getByRole('main', NAMED));
const tab = (page, name) => drawer(page).getByRole('tab', { name });
const chain = (page) => drawer(page).getByRole('list', { name: 'Messages and runs' });
const ends = (page) => drawer(page).getByRole('region', { name: 'Where it ended' });

const to = (contains, ...calls) => ({ when: { contains }, steps: [{ calls }] });
const say = (text) => ({ tool: 'send_message', input: { text } });
const skip = (reason) => ({ tool: 'skip_response', input: { reason } });

/** Ana answers a person, Ben answers Ana, and there the depth ends. Cleo is silent, then fails. */
async function scene(name) {
  const ana = await api.createAgent('Ana', [to('question', say('first answer'))]);
  const ben = await api.createAgent('Ben', [to('first answer', say('second answer'))]);
  const cleo = await api.createAgent('Cleo', [
    to('question', skip('Ana knows it.')),
    { when: { contains: 'first answer' }, steps: [{ error: 'bad_request' }] },
  ]);
  const space = await api.createSpace(name, [husam, ana, ben, cleo], { maxChainDepth: 2 });
  await api.postMessage(space, husam, 'a question');
  return space;
}

test('a chain is a tree, and it is said where it ended and why', async (t) => {
  const space = await scene('A chain');
  const page = await openTab(t);
  await openSpace(page, 'A chain');
  await page.getByRole('button', { name: 'Ana spoke' }).click();
  await tab(page, 'Chain').click();
  await page.waitForURL(/tab=chain$/);

  for (const [name, words] of [
    ['Ana, Cleo', 'not woken: chain depth reached'],
    ['Cleo', 'silent: “Ana knows it.”'],
    ['Cleo', 'failed: the script fails here with bad_request'],
  ])
    await ends(page)
      .getByRole('listitem')
      .filter({ hasText: `${name} ${words}` })
      .waitFor();
  await ends(page)
    .getByText('3 messages · 5 runs · 2 of at most 2 answers in a row (depth)')
    .waitFor();

  // Each message and each run is below its cause.
  const path = ['a question', 'Ana spoke', 'first answer', 'Ben spoke', 'second answer'];
  let place = chain(page);
  for (const words of path) {
    place = place.getByRole('listitem').filter({ hasText: words }).first();
    await place.waitFor();
  }
  await place.getByText('it woke nobody').waitFor();

  // The runs are below each other on one axis of time, too.
  const bars = drawer(page).getByRole('list', { name: 'Runs of the chain by time' });
  assert.equal(await bars.getByRole('button').count(), 5);
  await bars.locator('[aria-current]').filter({ hasText: 'Ana' }).waitFor();

  await chain(page).getByRole('button', { name: 'Husam a question' }).click();
  await page.waitForURL(new RegExp(`#/s/${space.id}/m/1\\?why=run_.*&tab=chain$`));
  await chain(page).getByRole('button', { name: 'Ben spoke' }).click();
  await drawer(page).getByRole('heading', { name: 'Why did Ben speak?' }).waitFor();
  await drawer(page)
    .getByRole('region', { name: 'What woke it' })
    .getByText('first answer')
    .waitFor();
});

for (const viewport of [
  { width: 1100, height: 800 },
  { width: 390, height: 844 },
])
  test(`the keyboard reaches the line at which agents stop, ${viewport.width} wide`, async (t) => {
    const space = await scene(`A stop, ${viewport.width} wide`);
    const page = await openTab(t, { viewport });
    await signInAs(page, husam, `#/s/${space.id}`);
    const words = 'The agents stop here (2 in a row). Write to go on.';
    const stop = page.getByRole('button', { name: words, exact: true });
    await stop.waitFor();
    const [lines, isCut] = await stop.evaluate((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return [range.getClientRects().length, node.scrollWidth > node.clientWidth];
    });
    assert.deepEqual([lines, isCut], [1, false]);
    // It is the only one: the other messages have woken somebody, or are of a person.
    assert.equal(await page.getByText('The agents stop here').count(), 1);
    await stop.focus();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    await waitUntilFocused(stop);
    await page.keyboard.press('Enter');
    const box = page.getByRole('textbox', { name: 'Message' });
    await waitUntilFocused(box);
  });

test('the arrow keys select a tab, and a chain has an address', async (t) => {
  await scene('By keys');
  const page = await openTab(t);
  await openSpace(page, 'By keys');
  await page.getByRole('button', { name: 'Ana spoke' }).click();
  const selected = (name) => drawer(page).getByRole('tab', { name, selected: true });
  await selected('Why').focus();
  await page.keyboard.press('ArrowRight');
  await selected('Chain').waitFor();
  await waitUntilFocused(selected('Chain'));
  await ends(page).waitFor();
  await page.keyboard.press('ArrowRight');
  await selected('Why').waitFor();
  await page.goBack();
  await selected('Chain').waitFor();
  await page.reload();
  await chain(page).getByRole('button', { name: 'Ana spoke' }).waitFor();
});

test('a member sees the chain, and in a narrow window a message closes the drawer', async (t) => {
  const space = await scene('Narrow');
  const page = await openTab(t, { viewport: { width: 390, height: 844 } });
  await signInAs(page, husam, `#/s/${space.id}`);
  await page.getByRole('button', { name: 'Ana spoke' }).click();
  await tab(page, 'Chain').click();
  const message = chain(page).getByRole('button', { name: 'Ben second answer' });
  await message.waitFor();
  const isTooWide = await page.evaluate(() =>
    [document.documentElement, document.querySelector('.drawer')].some(
      ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
    ),
  );
  assert.equal(isTooWide, false);
  // Why a run has failed is for the operator.
  await ends(page)
    .getByRole('listitem')
    .filter({ hasText: 'Cleo cannot answer at the moment' })
    .waitFor();
  assert.equal(
    await drawer(page)
      .getByText(/bad_request/)
      .count(),
    0,
  );
  assert.equal(await drawer(page).getByRole('link', { name: 'Open run' }).count(), 0);
  await message.click();
  await drawer(page).waitFor({ state: 'detached' });
  await page.waitForURL(new RegExp(`#/s/${space.id}/m/3$`));
});
