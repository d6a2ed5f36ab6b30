// Breaks of the connection: nothing is lost, nothing is doubled.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asEntries, kept, keptEntries, live, openSpace, openTab, send } from './console.js';
import { husam, sarah, world } from './suite.js';
import { answers, askingTool, asks } from './world.js';

const ANSWER = 'It is a long way to the lighthouse, and the path leads along the cliffs, so take good shoes, a coat, and water for two hours.';

const dropSockets = (page) => page.evaluate(() => window.sockets.forEach((socket) => socket.close()));

/** Keeps the page from connecting until what it returns is called. */
async function holdSockets(page) {
  let release;
  const held = new Promise((resume) => (release = resume));
  await page.route('**/v1/socketTickets', async (route) => {
    await held;
    await route.fallback();
  });
  return release;
}

test('what was said during a break is there after it, once and in order', async (t) => {
  const space = await world.space('Break', [husam]);
  const page = await openTab(t);
  await openSpace(page, 'Break');
  await send(page, 'before the break');
  await kept(page, 'before the break').waitFor();

  const release = await holdSockets(page);
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
  const page = await openTab(t);
  await openSpace(page, 'Long break');
  const release = await holdSockets(page);
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
  const page = await openTab(t);
  await openSpace(page, 'Broken answer');
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
  const early = await openTab(t);
  await openSpace(early, 'Middle');
  await send(early, 'How do I get to the lighthouse?');
  await early.locator('.entry[data-state="writing"]').filter({ hasText: 'a long way' }).waitFor();

  const late = await openTab(t);
  await openSpace(late, 'Middle');
  await late.locator('.entry[data-state="writing"]').filter({ hasText: 'It is a long way' }).waitFor();
  await late.locator('#working li').filter({ hasText: 'Ada' }).waitFor();
  await kept(late, ANSWER).waitFor();
  assert.deepEqual(await keptEntries(late), asEntries(await world.messages(space)));
});

test('what was answered after a space was loaded and before it was first followed is seen', async (t) => {
  const ask = askingTool('ask', { ui: 'form', resultSchema: { type: 'string' } });
  const ada = await world.agent('Ada', [asks('ask', { title: 'Which quay?' }, 'Thank you.')], 0, [ask]);
  const space = await world.space('Not followed yet', [husam, sarah, ada]);
  const early = await openTab(t);
  await openSpace(early, 'Not followed yet');
  await send(early, 'Begin, please.');
  await early.getByRole('group', { name: 'Which quay?' }).waitFor();

  const late = await openTab(t);
  const release = await holdSockets(late);
  const opened = openSpace(late, 'Not followed yet');
  await late.getByRole('group', { name: 'Which quay?' }).waitFor();
  const { runId, parts } = (await world.messages(space)).find(({ parts }) => parts[0].type === 'tool');
  await world.answer(sarah, runId, parts[0].callId, { output: 'the third' });
  await kept(early, 'Thank you.').waitFor();
  release();
  await opened;
  await late.locator('.outcome').filter({ hasText: 'answered by Sarah' }).waitFor();
  await late.getByRole('group', { name: 'Which quay?' }).waitFor({ state: 'detached' });
  assert.deepEqual(await keptEntries(late), asEntries(await world.messages(space)));
});
