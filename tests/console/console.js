// The console in a browser, as a person sees it: pages, what stands in them, and what the browser complains about.

import assert from 'node:assert/strict';
import { browser, product } from './suite.js';

const LIMIT_MS = 15_000;

/** Opens a fresh tab; when the test ends, the browser must not have had anything to complain about that is not `expected`. */
export async function openTab(test, { viewport = { width: 1100, height: 800 }, expected = [] } = {}) {
  const context = await browser.newContext({ viewport });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.addInitScript(watchThePage);
  test.after(async () => {
    const violations = await page.evaluate(() => window.violations).catch(() => []);
    await context.close();
    const unexpected = [...complaints, ...violations].filter((text) => !expected.some((pattern) => pattern.test(text)));
    assert.deepEqual(unexpected, [], 'the browser complained');
  });
  return page;
}

// Runs in the page before its own scripts.
function watchThePage() {
  window.violations = [];
  document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  window.sockets = [];
  window.WebSocket = class extends window.WebSocket {
    constructor(...given) {
      super(...given);
      window.sockets.push(this);
    }
  };
}

/** Signs in by the address that the product prints, and opens a space by its name. */
export async function openSpace(page, name) {
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await page.getByRole('navigation', { name: 'Spaces' }).getByRole('button', { name, exact: true }).click();
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await live(page);
}

/** Waits until the console is live. */
export async function live(page) {
  await page.locator('#status[data-status="live"]').waitFor();
}

/** Writes into the box and presses Enter. */
export async function send(page, text) {
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill(text);
  await box.press('Enter');
}

/** The kept entry with exactly this text. */
export const kept = (page, text) => page.locator('.entry[data-state="kept"]').filter({ has: page.getByText(text, { exact: true }) });

/** Everything kept, top to bottom: `{seq, text}`. */
export function keptEntries(page) {
  return page.locator('.entry[data-state="kept"]').evaluateAll((entries) =>
    entries.map((entry) => ({ seq: Number(entry.dataset.seq), text: entry.querySelector('.text')?.textContent ?? null })),
  );
}

/** What the server holds, in the same form. */
export const asEntries = (messages) => messages.map(({ seq, parts }) => ({ seq, text: parts.find(({ type }) => type === 'text')?.text ?? null }));
