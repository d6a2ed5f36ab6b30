// What holds for every page: axe finds nothing in both color schemes and at two widths, nothing
// scrolls sideways, and on a phone what one touches is high enough.

import assert from 'node:assert/strict';
import axe from 'axe-core';

const WIDTHS = {
  wide: { width: 1440, height: 900 },
  narrow: { width: 360, height: 740 },
};
const SCHEMES = ['light', 'dark'];
const LOWEST_TARGET_PX = 44;

/** Checks what the page shows now. */
export async function isAccessible(page) {
  for (const width of Object.keys(WIDTHS)) {
    await page.setViewportSize(WIDTHS[width]);
    for (const scheme of SCHEMES) await check(page, scheme, width);
  }
  await page.setViewportSize(WIDTHS.wide);
}

async function check(page, colorScheme, width) {
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

// Runs in the page: what one touches and is lower than this.
function tooLow(lowest) {
  return [...document.querySelectorAll('button, a[href], select, input, textarea, summary')]
    .filter((node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((node) => [node.closest('label') ?? node, node])
    .map(([touched, node]) => [touched.getBoundingClientRect(), node])
    .filter(([box]) => box.width > 1 && box.height < lowest - 0.5)
    .map(([box, node]) => `${Math.round(box.height)} px: ${node.outerHTML.slice(0, 120)}`);
}
