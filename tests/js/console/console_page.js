// Drives the console in a browser: opens pages, reads what they show, and collects the browser's
// errors.

import assert from 'node:assert/strict';
import { tokenOf } from '../api_client.js';
import { browser, product } from './suite.js';

const LIMIT_MS = 30_000;

/**
 * Opens a new tab. When the test ends, it fails on every browser error that does not match
 * `expected`.
 */
export async function openTab(
  test,
  { viewport = { width: 1100, height: 800 }, expected = [] } = {},
) {
  const context = await browser.newContext({ viewport });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  const errors = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.addInitScript(watchThePage);
  test.after(async () => {
    if (test.error) {
      const shown = await page.locator('body').innerText().catch(String);
      test.diagnostic(`The page shows at the end:\n${shown.slice(-2000)}`);
    }
    const violations = await page.evaluate(() => window.violations).catch(() => []);
    await context.close();
    const unexpected = [...errors, ...violations].filter(
      (text) => !expected.some((pattern) => pattern.test(text)),
    );
    assert.deepEqual(unexpected, [], 'the browser reported errors');
  });
  return page;
}

// Runs in the page before its own scripts.
function watchThePage() {
  window.violations = [];
  document.addEventListener('securitypolicyviolation', (event) =>
    window.violations.push(`${event.violatedDirective} ${event.blockedURI}`),
  );
  window.sockets = [];
  window.subscribed = [];
  window.WebSocket = class extends window.WebSocket {
    constructor(...args) {
      super(...args);
      window.sockets.push(this);
      this.addEventListener('message', ({ data }) => {
        const { type, spaceId } = JSON.parse(data);
        if (type === 'subscribed') window.subscribed.push(spaceId);
      });
    }
  };
}

/** Signs in with the address that the product prints, and opens a space by its name. */
export async function openSpace(page, name) {
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  const spaces = page.getByRole('navigation', { name: 'Spaces' });
  const words = name.replace(/[^\w\s]/g, '\\$&');
  const space = spaces.getByRole('link', { name: new RegExp(`^${words}(\\s*\\d+ unread.*)?$`) });
  const more = spaces.getByRole('button', { name: /without news/ });
  await space.or(more).first().waitFor();
  if ((await space.count()) === 0) await more.click();
  await space.click();
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await waitUntilLive(page);
  await writeAsSomebody(page);
}

/** Lets the operator write in the name of the first person of a space, unless one is chosen. */
export async function writeAsSomebody(page) {
  await page.locator('#composer').waitFor();
  const menu = page.locator('#sender');
  const people = menu.locator('option:not([value=""])');
  if ((await people.count()) === 0 || (await menu.inputValue()) !== '') return;
  await menu.selectOption(await people.first().getAttribute('value'));
}

/** Signs in with the token of a person. */
export async function signInAs(page, person, address = '') {
  await page.goto(`${product.base}/#token=${tokenOf(person, product.jwtSecret)}`);
  await waitUntilTaken(page);
  await waitUntilLive(page);
  if (address) await page.goto(`${product.base}/${address}`);
}

/**
 * Waits until the page has taken the key or the token from its address. In an open page such a link
 * changes the fragment only, and the page reads it a moment later.
 */
export async function waitUntilTaken(page) {
  await page.waitForURL((url) => !/^#(key|token)=/.test(url.hash));
}

/** Waits until the console is live. */
export async function waitUntilLive(page) {
  // In a narrow window the status is on the page with the spaces.
  await page.locator('#status[data-status="live"]').waitFor({ state: 'attached' });
}

/**
 * Waits until the server has confirmed that the page follows a space. The console is live before
 * that: as soon as it is connected.
 */
export async function waitUntilSubscribed(page, spaceId) {
  await page.waitForFunction((id) => window.subscribed.includes(id), spaceId);
}

/** Waits until an element has the focus. The page may move it after the next frame. */
export async function waitUntilFocused(locator) {
  await locator.and(locator.page().locator(':focus')).waitFor();
}

/**
 * Takes the focus out of the message box, which gets it a moment after a space has opened: while it
 * has it, single keys are text.
 */
export async function leaveTheBox(page) {
  const box = page.getByRole('textbox', { name: 'Message', exact: true });
  await waitUntilFocused(box);
  await box.blur();
}

/**
 * Waits for a text that shows for a moment only, while `act` is under way and after it. It looks at
 * every frame; a locator looks twice a second.
 */
export async function waitForBriefText(page, selector, text, act) {
  const isShown = ([selector, text]) =>
    [...document.querySelectorAll(selector)].some((node) => node.textContent.includes(text));
  await Promise.all([page.waitForFunction(isShown, [selector, text]), act()]);
}

/** Presses keys that belong together, without waiting for the page in between. */
export async function pressInTurn(page, ...keys) {
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
}

/** Presses a key that opens the file picker, and returns the picker. */
export async function openPicker(page, key) {
  const press = async () => {
    // The browser learns that a test waits for the picker by another way than that of keys, and a
    // key can be faster. It answers this after it has learned it.
    await page.evaluate(() => {});
    await page.keyboard.press(key);
  };
  const [picker] = await Promise.all([page.waitForEvent('filechooser'), press()]);
  return picker;
}

/** Types a message and presses Enter. */
export async function send(page, text) {
  const box = page.getByRole('textbox', { name: 'Message' });
  await writeAsSomebody(page);
  await box.fill(text);
  await box.press('Enter');
}

/** The stored entry with exactly this text. */
export const storedEntry = (page, text) =>
  page
    .locator('.entry[data-state="stored"]')
    .filter({ has: page.getByText(text, { exact: true }) });

/** All stored entries from top to bottom: `{seq, text}`. */
export function storedEntries(page) {
  return page.locator('.entry[data-state="stored"]').evaluateAll((entries) =>
    entries.map((entry) => ({
      seq: Number(entry.dataset.seq),
      text: entry.querySelector('.text')?.textContent ?? null,
    })),
  );
}

/** The messages of the API in the form of `storedEntries`. */
export const asEntries = (messages) =>
  messages.map(({ seq, parts }) => ({
    seq,
    text: parts.find(({ type }) => type === 'text')?.text ?? null,
  }));

/** The tiles of a list whose words do not fit, or that are not as high as the first one. */
export const tightTiles = (list) =>
  list
    .getByRole('link')
    .evaluateAll(([first, ...others]) =>
      [first, ...others]
        .filter(
          (tile) =>
            tile.clientHeight !== first.clientHeight ||
            tile.scrollWidth > tile.clientWidth ||
            [...tile.children].some((words) => words.scrollWidth > words.clientWidth),
        )
        .map((tile) => tile.textContent),
    );
