// Every page in both color schemes and at two widths: axe finds nothing, nothing scrolls sideways,
// and on a phone what one touches is high enough.

import { test } from 'node:test';
import { isAccessible, isAccessibleAt } from './accessible.js';
import { openTab, waitUntilLive, writeAsSomebody } from './console_page.js';
import { PAGES, addressOf, world } from './pages.js';
import { api, product } from './suite.js';

const PHONE = { width: 390, height: 844 };

let made;
const ids = () => (made ??= world(api));

for (const [name, address, text] of PAGES)
  test(name, async (t) => {
    const found = addressOf(address, await ids());
    const page = await openTab(t);
    await signIn(page);
    // The page is loaded again, so that nothing of the one before it shows.
    await page.goto(`${product.base}/?${name}${found}`);
    const shown = page.locator('.page, .drawer').getByText(text);
    // The operator replies in nobody's name, and has no box for it, before it has chosen one.
    if (name === 'thread') await writeAsSomebody(page);
    await shown.filter({ visible: true }).first().waitFor();
    await isAccessible(page, PHONE);
  });

test('the sign-in page', async (t) => {
  const page = await openTab(t);
  await page.goto(product.base);
  await page.getByLabel('Key or token').waitFor();
  await isAccessible(page, PHONE);
});

test('the list, the first screen and the dialogs', async (t) => {
  await ids();
  const page = await openTab(t);
  await signIn(page);
  await page.getByRole('link', { name: 'Welcome' }).click();
  await page.getByText('Try one of these').waitFor();
  await isAccessible(page, PHONE);
  await page.getByRole('button', { name: 'New space' }).click();
  await page.getByRole('dialog').getByText('Omar').waitFor();
  await isAccessible(page, PHONE);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await isAccessible(page, PHONE);
  await page.keyboard.press('Escape');
  await page.setViewportSize(PHONE);
  await page.getByRole('link', { name: 'All spaces' }).click();
  await page.getByRole('heading', { name: 'Smartspace', level: 1 }).waitFor();
  await isAccessibleAt(page, PHONE);
});

async function signIn(page) {
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
}
