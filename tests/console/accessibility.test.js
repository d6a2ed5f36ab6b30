// Every page in both color schemes and at two widths: axe finds nothing, nothing scrolls sideways,
// and on a phone what one touches is high enough.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import axe from 'axe-core';
import { openTab, waitUntilLive } from './console_page.js';
import { PAGES, addressOf, world } from './pages.js';
import { api, product } from './suite.js';

const WIDTHS = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };
const SCHEMES = ['light', 'dark'];
const LOWEST_TARGET_PX = 44;

let made;
const ids = () => (made ??= world(api));

for (const [name, address, text] of PAGES)
  test(name, async (t) => {
    const found = addressOf(address, await ids());
    const page = await openTab(t);
    await signIn(page);
    await page.goto(`${product.base}/${found}`);
    await page.getByText(text).filter({ visible: true }).first().waitFor();
    await isFineEverywhere(page);
  });

test('the sign-in page', async (t) => {
  const page = await openTab(t);
  await page.goto(product.base);
  await page.getByLabel('Key or token').waitFor();
  await isFineEverywhere(page);
});

test('the list, the first screen and the dialogs', async (t) => {
  await ids();
  const page = await openTab(t);
  await signIn(page);
  await page.getByRole('button', { name: 'Welcome' }).click();
  await page.getByText('Try one of these').waitFor();
  await isFineEverywhere(page);
  await page.getByRole('button', { name: 'New space' }).click();
  await page.getByRole('dialog').getByText('Omar').waitFor();
  await isFineEverywhere(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await isFineEverywhere(page);
  await page.keyboard.press('Escape');
  await page.setViewportSize(WIDTHS.narrow);
  await page.getByRole('link', { name: 'All spaces' }).click();
  for (const scheme of SCHEMES) await isFine(page, scheme, 'narrow');
});

async function signIn(page) {
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
}

async function isFineEverywhere(page) {
  for (const width of Object.keys(WIDTHS)) {
    await page.setViewportSize(WIDTHS[width]);
    for (const scheme of SCHEMES) await isFine(page, scheme, width);
  }
  await page.setViewportSize(WIDTHS.wide);
}

async function isFine(page, colorScheme, width) {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run());
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
  assert.deepEqual(found, [], `${colorScheme}, ${width}`);
  if (width !== 'narrow') return;
  assert.deepEqual(await page.evaluate(tooLow, LOWEST_TARGET_PX), [], 'hard to touch');
  const scrolled = await page.evaluate(() => document.scrollingElement.scrollWidth);
  assert.equal(scrolled, WIDTHS.narrow.width, 'the page scrolls sideways');
}

// Runs in the page: what one touches and is lower than this. Links and buttons in a line of text
// may be as low as the text (WCAG 2.5.8).
function tooLow(lowest) {
  const isInText = (node) => node.matches('.link, p a, li a:not(.button), td a, th a, dd a');
  return [...document.querySelectorAll('button, a[href], select, input, textarea, summary')]
    .filter((node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter((node) => !isInText(node) || node.closest('.side'))
    .map((node) => [node.closest('label') ?? node, node])
    .map(([touched, node]) => [touched.getBoundingClientRect(), node])
    .filter(([box]) => box.width > 1 && box.height < lowest - 0.5)
    .map(([box, node]) => `${Math.round(box.height)} px: ${node.outerHTML.slice(0, 120)}`);
}
