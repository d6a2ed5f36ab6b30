// The real page with a fake server: a test delivers the frames of a room and reads the requests.

import { openTab } from './console_page.js';
import { makeServer } from './fake_page.js';
import { product } from './suite.js';

// The page reports refused and lost calls, which these tests provoke.
const REFUSALS = [/status of \d+/, /net::ERR_/];

/**
 * A tab of the operator with an empty room of the agent Ada and the people Sarah and Husam. The
 * functions that make frames are properties of its `window`. `data` replaces others of them.
 */
export async function openFakeRoom(t, { expected = [], data = {}, ...options } = {}) {
  const page = await openTab(t, {
    expected: [...REFUSALS, ...expected],
    ...options,
  });
  await page.addInitScript(makeServer);
  await page.addInitScript((data) => Object.assign(window, data), data);
  await page.clock.install({ time: new Date('2026-05-01T12:00:00Z') });
  await page.route('**/v1/**', (route) => answer(page, route));
  await page.goto(`${product.base}/#key=a-key`);
  await page.evaluate(() => window.open());
  return page;
}

// `window.answer` decides what the server answers.
async function answer(page, route) {
  const request = route.request();
  const { pathname, search } = new URL(request.url());
  const asked = [request.method(), pathname + search, request.postDataJSON()];
  try {
    const [status, body] = await page.evaluate((asked) => window.answer(...asked), asked);
    if (status === 0) await route.abort('failed');
    else await route.fulfill({ status, json: body });
  } catch {
    // The tab is closed.
  }
}

/** Delivers the frames that `make(data)` returns. `make` runs in the page. */
export const deliver = (page, make, data) =>
  page.evaluate(`window.deliver(...[(${make})(${JSON.stringify(data)})].flat())`);

/** Delivers a card with this call in the first message. */
export const ask = (page, part) => deliver(page, (data) => window.card(1, data), part);

/** The outcomes that the cards show. */
export const outcome = (page) => page.locator('.outcome');

/** The requests so far: `{path, body}`. */
export const sent = (page) => page.evaluate(() => window.sent);
