// The rules that hold for every page: axe finds nothing in both color schemes and at two widths,
// nothing scrolls sideways, and on a phone links and controls are high enough.

import assert from 'node:assert/strict';
import axe from 'axe-core';

const WIDE = { width: 1440, height: 900 };
const SMALLEST = { width: 360, height: 740 };
const SCHEMES = ['light', 'dark'];
const LOWEST = {
  target: 44,
  // The lines below a message are sentences with buttons in them (WCAG 2.5.8).
  inLine: 24,
  lines: '.roll-call button, .outcome-list button, .chain-end',
};

/** Checks what the page shows now, in a wide window and in a narrow one. */
export async function isAccessible(page, narrow = SMALLEST) {
  await isAccessibleAt(page, WIDE);
  await isAccessibleAt(page, narrow);
  await page.setViewportSize(WIDE);
}

/** Checks what the page shows now in a window of this size. */
export async function isAccessibleAt(page, size) {
  await page.setViewportSize(size);
  await page.evaluate(isDrawn);
  for (const scheme of SCHEMES) await check(page, scheme, size);
}

async function check(page, colorScheme, size) {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run());
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
  assert.deepEqual(found, [], `${colorScheme}, ${size.width} px`);
  if (size === WIDE) return;
  assert.deepEqual(await page.evaluate(tooLow, LOWEST), [], 'hard to touch');
  const scrolled = await page.evaluate(() => document.scrollingElement.scrollWidth);
  assert.equal(scrolled, size.width, 'the page scrolls sideways');
}

// Runs in the page: waits for frames of the new size. What depends on it has changed then.
const isDrawn = () =>
  new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume)));

// Runs in the page: what one touches and is lower than this. Links and buttons in a line of text
// may be as low as the text (WCAG 2.5.8).
function tooLow({ target, inLine, lines }) {
  const isInText = (node) =>
    node.matches('.link, p a, blockquote a, li a:not(.button), td a, th a, dd a');
  return [...document.querySelectorAll('button, a[href], select, input, textarea, summary')]
    .filter((node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter((node) => !isInText(node) || node.closest('.sidebar'))
    .map((node) => [node.closest('label') ?? node, node])
    .map(([touched, node]) => [touched.getBoundingClientRect(), node])
    .filter(([box, node]) => {
      const lowest = node.matches(lines) ? inLine : target;
      return box.width > 1 && box.height < lowest - 0.5;
    })
    .map(([box, node]) => `${Math.round(box.height)} px: ${node.outerHTML.slice(0, 120)}`);
}
