// Lost connections: no message is missing or shown twice afterwards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule, callRule, formTool } from '../api_client.js';
import {
  asEntries,
  openSpace,
  openTab,
  send,
  storedEntries,
  storedEntry,
  waitUntilLive,
  waitUntilSubscribed,
} from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

const ANSWER =
  'It is a long way to the lighthouse, and the path leads along the cliffs, ' +
  'so take good shoes, a coat, and water for two hours.';

const dropSockets = (page) =>
  page.evaluate(() => window.sockets.forEach((socket) => socket.close()));

/** Blocks new WebSocket connections until the returned function is called. */
async function blockSockets(page) {
  let release;
  const released = new Promise((resume) => (release = resume));
  await page.route('**/v1/socketTickets', async (route) => {
    await released;
    await route.fallback();
  });
  return release;
}

test('messages sent while disconnected appear once and in order', async (t) => {
  const space = await api.createSpace('Break', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Break');
  await send(page, 'before the break');
  await storedEntry(page, 'before the break').waitFor();

  const release = await blockSockets(page);
  await dropSockets(page);
  await page.locator('#status:not([data-status="live"])').waitFor();
  for (const text of ['first', 'second', 'third']) await api.postMessage(space, husam, text);
  assert.equal((await storedEntries(page)).length, 1);
  release();
  await waitUntilLive(page);
  await storedEntry(page, 'third').waitFor();
  await api.postMessage(space, husam, 'after the break');
  await storedEntry(page, 'after the break').waitFor();
  assert.deepEqual(await storedEntries(page), asEntries(await api.messages(space)));
});

test('messages beyond the replay are fetched', async (t) => {
  const space = await api.createSpace('Long break', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Long break');
  const release = await blockSockets(page);
  await dropSockets(page);
  await page.locator('#status:not([data-status="live"])').waitFor();
  for (let number = 1; number <= 230; number += 1)
    await api.postMessage(space, husam, `number ${number}`);
  release();
  await page.locator('.entry[data-seq="1"]').waitFor();
  await page.locator('.entry[data-seq="230"]').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.entry').length === 230);
  assert.deepEqual(
    (await storedEntries(page)).map(({ seq }) => seq),
    Array.from({ length: 230 }, (_, index) => index + 1),
  );
});

test('an answer is complete after the connection broke while it streamed', async (t) => {
  const ada = await api.createAgent('Ada', [answerRule(ANSWER, 'That is all.')], 120);
  const space = await api.createSpace('Broken answer', [husam, ada]);
  const page = await openTab(t);
  await openSpace(page, 'Broken answer');
  await send(page, 'How do I get to the lighthouse?');
  await page.locator('.entry[data-state="writing"]').waitFor();
  await dropSockets(page);
  await storedEntry(page, 'That is all.').waitFor();
  await storedEntry(page, ANSWER).waitFor();
  await page.locator('.entry[data-state="writing"]').waitFor({ state: 'detached' });
  assert.deepEqual(await storedEntries(page), asEntries(await api.messages(space)));
});

test('a page that joins during an answer shows it within seconds', async (t) => {
  const ada = await api.createAgent('Ada', [answerRule(ANSWER)], 600);
  const space = await api.createSpace('Middle', [husam, ada]);
  const [early, late] = [await openTab(t), await openTab(t)];
  // The page has its files, so that it joins soon.
  await late.goto(product.base);
  await openSpace(early, 'Middle');
  await send(early, 'How do I get to the lighthouse?');
  await early.locator('.entry[data-state="writing"]').filter({ hasText: 'a long way' }).waitFor();

  await openSpace(late, 'Middle');
  await late
    .locator('.entry[data-state="writing"]')
    .filter({ hasText: 'It is a long way' })
    .waitFor();
  await late.locator('#working li').filter({ hasText: 'Ada' }).waitFor();
  await storedEntry(late, ANSWER).waitFor();
  assert.deepEqual(await storedEntries(late), asEntries(await api.messages(space)));
});

test('after a restart the page connects at once, and later after too many frames', async (t) => {
  const space = await api.createSpace('Goodbye', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Goodbye');
  const sayGoodbye = (goodbye) =>
    page.evaluate((goodbye) => {
      const socket = window.sockets.at(-1);
      window.left = performance.now();
      socket.onmessage({
        data: JSON.stringify({ type: 'goodbye', ...goodbye }),
      });
    }, goodbye);
  const connectsAfter = async (count) => {
    await page.waitForFunction((count) => window.sockets.length === count, count);
    const took = await page.evaluate(() => performance.now() - window.left);
    await waitUntilLive(page);
    return took;
  };
  const count = await page.evaluate(() => window.sockets.length);
  await sayGoodbye({ code: 1012, reason: 'the server restarts' });
  await connectsAfter(count + 1);
  // It is not live for little more than two seconds.
  const isLost = page.waitForFunction(
    () => document.getElementById('status').dataset.status !== 'live',
  );
  await sayGoodbye({ code: 1013, reason: 'too many frames', retryAfter: 2 });
  await isLost;
  const took = await connectsAfter(count + 2);
  assert.ok(took >= 2000, `it took ${took} ms`);
  await api.postMessage(space, husam, 'after both');
  await storedEntry(page, 'after both').waitFor();
});

test('a refused subscription is tried again over the same connection', async (t) => {
  const space = await api.createSpace('Refused', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Refused');
  // The answer to the page's own subscription must not come after the refusal.
  await waitUntilSubscribed(page, space.id);
  const count = await page.evaluate((spaceId) => {
    const socket = window.sockets.at(-1);
    window.requests = [];
    const send = socket.send.bind(socket);
    socket.send = (frame) => {
      window.requests.push(JSON.parse(frame));
      send(frame);
    };
    const id = `subscribe ${spaceId}`;
    const refused = { type: 'error', id, status: 429, retryAfter: 1 };
    socket.onmessage({ data: JSON.stringify(refused) });
    return window.sockets.length;
  }, space.id);
  await page.waitForFunction(
    (id) => window.requests.some((each) => each.spaceId === id && each.action === 'subscribe'),
    space.id,
  );
  await waitUntilLive(page);
  assert.equal(await page.evaluate(() => window.sockets.length), count);
});

test('frames about subscriptions are counted', async (t) => {
  const first = await api.createSpace('Counted', [husam]);
  const second = await api.createSpace('Counted too', [husam]);
  const page = await openTab(t);
  await page.addInitScript(() => {
    window.requests = [];
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (frame) {
      window.requests.push(JSON.parse(frame));
      send.call(this, frame);
    };
  });
  await openSpace(page, 'Counted');
  await waitUntilSubscribed(page, first.id);
  const spaces = page.getByRole('navigation', { name: 'Spaces' });
  await spaces.getByRole('link', { name: 'Counted too', exact: true }).click();
  await api.postMessage(second, husam, 'to the second');
  await storedEntry(page, 'to the second').waitFor();
  await waitUntilSubscribed(page, second.id);
  const requests = () =>
    page.evaluate(() => window.requests.filter(({ action }) => /subscribe$/.test(action)));
  const followed = await requests();
  for (const { id } of [first, second])
    assert.ok(followed.some(({ action, spaceId }) => action === 'subscribe' && spaceId === id));
  assert.deepEqual(
    followed.map(({ n }) => n),
    followed.map((_, index) => index + 1),
  );
});

test('an answer between loading a space and subscribing to it is shown', async (t) => {
  const ask = formTool('ask', { ui: 'form', resultSchema: { type: 'string' } });
  const ada = await api.createAgent(
    'Ada',
    [callRule('ask', { title: 'Which quay?' }, 'Thank you.')],
    0,
    [ask],
  );
  const space = await api.createSpace('Not followed yet', [husam, sarah, ada]);
  const early = await openTab(t);
  await openSpace(early, 'Not followed yet');
  await send(early, 'Begin, please.');
  await early.getByRole('group', { name: 'Which quay?' }).waitFor();

  const late = await openTab(t);
  const release = await blockSockets(late);
  const opened = openSpace(late, 'Not followed yet');
  await late.getByRole('group', { name: 'Which quay?' }).waitFor();
  const { runId, parts } = (await api.messages(space)).find(
    ({ parts }) => parts[0].type === 'tool',
  );
  await api.answer(sarah, runId, parts[0].callId, { output: 'the third' });
  await storedEntry(early, 'Thank you.').waitFor();
  release();
  await opened;
  await late.locator('.outcome').filter({ hasText: 'answered by Sarah' }).waitFor();
  await late.getByRole('group', { name: 'Which quay?' }).waitFor({ state: 'detached' });
  assert.deepEqual(await storedEntries(late), asEntries(await api.messages(space)));
});
