// How many bytes of answers the console needs: to open a space, to return to it, and to explain a
// run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openTab, waitUntilLive, waitUntilSubscribed } from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

const MOST_OPENING_BYTES = 60 * 1024;
const MOST_RETURN_BYTES = 5 * 1024;
const MOST_WHY_BYTES = 25 * 1024;
/** An answer 304 has fewer. */
const UNCHANGED_BYTES = 512;
const MESSAGES = 50;
const SPACES = 42;

/** Counts the answers of the API: `take()` returns those since the last time. */
async function countAnswers(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const paths = new Map();
  let answers = [];
  let lastAt = Date.now();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    const { pathname, search } = new URL(request.url);
    if (pathname.startsWith('/v1/')) paths.set(requestId, `${request.method} ${pathname}${search}`);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!paths.has(requestId)) return;
    answers.push({ path: paths.get(requestId), bytes: encodedDataLength });
    lastAt = Date.now();
  });
  return async () => {
    lastAt = Date.now();
    // Longer than the client waits for late news.
    while (Date.now() - lastAt < 2500) await delay(100);
    const taken = answers;
    answers = [];
    return { taken, bytes: taken.reduce((sum, { bytes }) => sum + bytes, 0) };
  };
}

function tell(t, what, { taken, bytes }) {
  t.diagnostic(`${what}: ${taken.length} answers, ${bytes} bytes`);
  for (const { path, bytes } of taken) t.diagnostic(`  ${bytes} ${path}`);
}

const talk = [
  'The build of the release branch is green again, I have restarted the flaky job twice.',
  'Who has the numbers of last week? The customer asks for them before our call at three.',
  'I would wait with the rollout until the migration of the second region is through.',
];

test(
  'a space opens with few bytes, and a return needs hardly any',
  { timeout: 240_000 },
  async (t) => {
    const names = ['Ana', 'Ben', 'Cleo', 'Dario'];
    const rules = [{ when: { contains: 'never' }, steps: [{ text: 'never' }] }];
    const agents = await Promise.all(names.map((name) => api.createAgent(name, rules)));
    for (let at = 2; at < SPACES; at += 1) await api.createSpace(`Customer ${at}`, [husam, sarah]);
    const room = await api.createSpace('Wire', [husam, sarah, ...agents]);
    for (let at = 0; at < MESSAGES; at += 1)
      await api.postMessage(room, at % 3 ? husam : sarah, `${talk[at % talk.length]} (${at})`);
    await api.waitFor(async () => {
      const { items } = await api.request(
        'GET',
        `/v1/runs?spaceId=${room.id}&limit=1&status=running`,
      );
      return items.length === 0;
    });

    const page = await openTab(t);
    const answers = await countAnswers(page);
    await page.goto(`${product.base}/#key=${product.adminKey}`);
    await waitUntilLive(page);
    await answers();
    await page.goto('about:blank');
    await page.goto(`${product.base}/#/s/${room.id}`);
    await page.getByText(`(${MESSAGES - 1})`).waitFor();
    await waitUntilSubscribed(page, room.id);
    const opening = await answers();
    tell(t, 'Opening', opening);

    const spaces = page.getByRole('navigation', { name: 'Spaces' });
    await spaces.getByRole('link', { name: 'Customer 41', exact: true }).click();
    await answers();
    await api.postMessage(room, husam, 'Something new');
    await answers();
    await spaces.getByRole('link', { name: /^Wire/ }).click();
    await page.getByText('Something new').waitFor();
    const returned = await answers();
    tell(t, 'Return', returned);

    const [run] = await api.runs(room);
    await page.evaluate((id) => (location.hash += `?why=${id}`), run.id);
    await page.locator('.drawer').waitFor();
    const why = await answers();
    tell(t, 'Why', why);

    const asked = (part) => opening.taken.filter(({ path }) => path.includes(part)).length;
    // Once more if the connection is live only after the first one: then nothing has changed.
    const lists = opening.taken.filter(({ path }) => path.includes('/v1/spaces?'));
    assert.ok(lists.length <= 2, `${lists.length} lists of spaces`);
    assert.ok(lists.slice(1).every(({ bytes }) => bytes < UNCHANGED_BYTES));
    assert.ok(asked(`${room.id}/runs?`) <= 2, `${asked('/runs?')} pages of runs`);
    // For the loops of all spaces.
    assert.ok(asked('/v1/runs?') <= 1, `${asked('/v1/runs?')} pages of all runs`);
    assert.ok(why.taken.length > 0);
    assert.ok(opening.bytes <= MOST_OPENING_BYTES, `${opening.bytes} bytes`);
    assert.ok(returned.bytes <= MOST_RETURN_BYTES, `${returned.bytes} bytes`);
    assert.ok(why.bytes <= MOST_WHY_BYTES, `${why.bytes} bytes`);
  },
);
