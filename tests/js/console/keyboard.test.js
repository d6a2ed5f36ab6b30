// The keyboard alone is enough: from signing in to an answer of an agent that one has made.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab, storedEntry, waitUntilFocused, waitUntilLive } from './console_page.js';
import { product } from './suite.js';

const MOST_TABS = 80;

/** Presses Tab until the focus is on a control with this name. */
async function tabTo(page, name, key = 'Tab') {
  for (let count = 0; count < MOST_TABS; count += 1) {
    await page.keyboard.press(key);
    const focused = await page.evaluate(() => {
      const node = document.activeElement;
      const label = node.labels?.[0]?.textContent ?? '';
      return (node.getAttribute('aria-label') ?? (label || node.textContent)).trim();
    });
    if (typeof name === 'string' ? focused === name : name.test(focused)) return count + 1;
  }
  assert.fail(`${name} was not reached with ${MOST_TABS} presses of ${key}`);
}

const heading = (page, name) => page.getByRole('heading', { level: 1, name });

test('the keyboard signs in, talks, asks why and makes an agent', async (t) => {
  const page = await openTab(t);
  await page.goto(product.base);
  await waitUntilFocused(page.getByLabel('Key or token'));
  await page.keyboard.type(product.adminKey);
  await page.keyboard.press('Enter');
  await heading(page, /Welcome|Help desk/).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Name of a space or page' }).waitFor();
  await page.keyboard.type('welc');
  await page.keyboard.press('Enter');
  await heading(page, 'Welcome').waitFor();
  await page.getByText('Try one of these').waitFor();

  // The message box has the focus, also when the page is loaded again.
  const box = page.getByRole('textbox', { name: 'Message', exact: true });
  await waitUntilFocused(box);
  await page.reload();
  await waitUntilFocused(box);
  await page.keyboard.type('Hello! Who is here?');
  await page.keyboard.press('Enter');
  // The operator writes in nobody's name before they choose one.
  await waitUntilFocused(page.getByRole('combobox', { name: 'as' }));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Guide spoke' }).waitFor();
  await waitUntilFocused(box);

  await tabTo(page, 'Guide spoke', 'Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Why did Guide speak?' }).waitFor();
  await tabTo(page, 'Why');
  await page.keyboard.press('ArrowRight');
  await page.getByRole('tab', { name: 'Chain', selected: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Why did Guide speak?' }).waitFor({ state: 'detached' });

  // At the address of a message the box is two stops away at most.
  await page.goto(`${page.url()}/m/1`);
  await page.reload();
  await storedEntry(page, 'Hello! Who is here?').waitFor();
  await waitUntilLive(page);
  assert.ok((await tabTo(page, 'Skip to the message')) <= 2);
  await page.keyboard.press('Enter');
  await waitUntilFocused(box);

  await page.keyboard.press('Control+k');
  await page.keyboard.type('agents');
  await page.keyboard.press('Enter');
  await heading(page, 'Agents').waitFor();
  await tabTo(page, 'New agent');
  await page.keyboard.press('Enter');
  await heading(page, 'New agent').waitFor();
  await tabTo(page, /^Assistant/);
  // From the first choice upwards is the last one, and then the one before it.
  await page.keyboard.press('ArrowUp');
  await page.getByRole('radio', { name: /^Remote agent/, checked: true }).waitFor();
  await page.keyboard.press('ArrowUp');
  await page.getByRole('radio', { name: /^Scripted/, checked: true }).waitFor();
  await tabTo(page, 'Name');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Keyed');
  await page.keyboard.press('Enter');
  await heading(page, 'Keyed').waitFor();
});
