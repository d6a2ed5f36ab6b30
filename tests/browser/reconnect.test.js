// Breaks of the connection: nothing is lost, nothing is doubled.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { asEntries, kept, keptEntries, live, openSpace, openTab, send, startBrowser } from './console.js';
import { startProduct } from './product.js';
import { World, answers } from './world.js';

const ANSWER = 'It is a long way to the lighthouse, and the path leads along the cliffs, so take good shoes, a coat, and water for two hours.';

let product;
let browser;
let world;
let husam;
before(async () => {
  product = await startProduct();
  browser = await startBrowser();
  world = new World(product);
  husam = await world.person('Husam');
});
after(async () => {
  await browser?.close();
  await product?.stop();
});

const dropSockets = (page) => page.evaluate(() => window.sockets.forEach((socket) => socket.close()));

test('what was said during a break is there after it, once and in order', async (t) => {
  const space = await world.space('Break', [husam]);
  const page = await openTab(t, browser);
  await openSpace(page, product, 'Break');
  await send(page, 'before the break');
  await kept(page, 'before the break').waitFor();

  let release;
  const held = new Promise((resume) => (release = resume));
  await page.route('**/v1/socketTickets', async (route) => {
    await held;
    await route.fallback();
  });
  await dropSockets(page);
  await page.locator('#status:not([data-status="live"])').waitFor();
  for (const text of ['first', 'second', 'third']) await world.say(space, husam, text);
  assert.equal((await keptEntries(page)).length, 1);
  release();
  await live(page);
  await kept(page, 'third').waitFor();
  await world.say(space, husam, 'after the break');
  await kept(page, 'after the break').waitFor();
  assert.deepEqual(await keptEntries(page), asEntries(await world.messages(space)));
});

test('more than the socket replays is fetched', async (t) => {
  const space = await world.space('Long break', [husam]);
  const page = await openTab(t, browser);
  await openSpace(page, product, 'Long break');
  let release;
  const held = new Promise((resume) => (release = resume));
  await page.route('**/v1/socketTickets', async (route) => {
    await held;
    await route.fallback();
  });
  await dropSockets(page);
  await page.locator('#status:not([data-status="live"])').waitFor();
  for (let number = 1; number <= 230; number += 1) await world.say(space, husam, `number ${number}`);
  release();
  await page.locator('.entry[data-seq="1"]').waitFor();
  await page.locator('.entry[data-seq="230"]').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.entry').length === 230);
  assert.deepEqual((await keptEntries(page)).map(({ seq }) => seq), Array.from({ length: 230 }, (_, index) => index + 1));
});

test('an answer that was being written when the connection broke is complete', async (t) => {
  const ada = await world.agent('Ada', [answers(ANSWER, 'That is all.')], 120);
  const space = await world.space('Broken answer', [husam, ada]);
  const page = await openTab(t, browser);
  await openSpace(page, product, 'Broken answer');
  await send(page, 'How do I get to the lighthouse?');
  await page.locator('.entry[data-state="writing"]').waitFor();
  await dropSockets(page);
  await kept(page, 'That is all.').waitFor();
  await kept(page, ANSWER).waitFor();
  await page.locator('.entry[data-state="writing"]').waitFor({ state: 'detached' });
  assert.deepEqual(await keptEntries(page), asEntries(await world.messages(space)));
});

test('whoever comes in the middle of an answer sees it within seconds', async (t) => {
  const ada = await world.agent('Ada', [answers(ANSWER)], 300);
  const space = await world.space('Middle', [husam, ada]);
  const early = await openTab(t, browser);
  await openSpace(early, product, 'Middle');
  await send(early, 'How do I get to the lighthouse?');
  await early.locator('.entry[data-state="writing"]').filter({ hasText: 'a long way' }).waitFor();

  const late = await openTab(t, browser);
  await openSpace(late, product, 'Middle');
  await late.locator('.entry[data-state="writing"]').filter({ hasText: 'It is a long way' }).waitFor();
  await late.locator('#working li').filter({ hasText: 'Ada' }).waitFor();
  await kept(late, ANSWER).waitFor();
  assert.deepEqual(await keptEntries(late), asEntries(await world.messages(space)));
});
