// Frames in every order: what a room makes of them, with a made-up server behind it and a clock that the test moves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab } from './console.js';
import { product } from './suite.js';

// Runs in the page: a room of a space that has `held` messages; `told()` says what it would show.
async function makeRoom(held) {
  const { Room } = await import('/console/room.js');
  const { bubblesOf } = await import('/console/bubbles.js');
  const ada = { id: 'ada', name: 'Ada', type: 'agent' };
  const kept = [];
  const asked = [];
  window.runs = [];
  window.message = (seq, text, more = {}) => {
    const at = new Date(Date.UTC(2026, 0, 1, 0, seq)).toISOString();
    return { id: `m${seq}`, seq, rev: 1, sender: ada, parts: [{ type: 'text', text }], runId: null, streamId: null, dispatch: [], createdAt: at, ...more };
  };
  window.keep = (...messages) => kept.push(...messages);
  for (let seq = 1; seq <= held; seq += 1) window.keep(window.message(seq, `text ${seq}`));
  const api = {
    get: async (path) => (path.includes('/runs') ? { items: window.runs } : { id: 's', name: 'S', seq: kept.length, members: [ada] }),
    messages: async (_, { after, before }, limit) => {
      asked.push(after ?? before);
      if (window.isDown) throw new Error('no answer');
      return after === undefined ? kept.filter(({ seq }) => seq < before).slice(-limit) : kept.filter(({ seq }) => seq > after).slice(0, limit);
    },
  };
  window.room = await Room.open(api, 's', () => {});
  window.frames = (...frames) => frames.forEach((frame) => window.room.handle({ spaceId: 's', ...frame }));
  window.asked = asked;
  const textOf = ({ message, stream, failure }) => message?.parts[0].text ?? failure?.message ?? `${stream.text}|`;
  window.told = () => bubblesOf(window.room).flatMap(({ entries }) => entries.map(textOf));
}

async function roomOf(t, held) {
  const page = await openTab(t);
  await page.clock.install();
  await page.goto(product.base);
  await page.evaluate(makeRoom, held);
  return page;
}

const told = (page) => page.evaluate(() => window.told());

test('messages out of order, doubled, and older states of them', async (t) => {
  const page = await roomOf(t, 1);
  await page.evaluate(() => {
    const { message, frames } = window;
    window.keep(message(2, 'two'), message(3, 'three'));
    frames({ type: 'message.updated', message: message(3, 'three, decided', { rev: 2 }) });
    frames({ type: 'message.created', message: message(3, 'three') }, { type: 'message.created', message: message(2, 'two') });
    frames({ type: 'message.created', message: message(2, 'two') }, { type: 'message.created', spaceId: 'elsewhere', message: message(4, 'four') });
  });
  assert.deepEqual(await told(page), ['text 1', 'two', 'three, decided']);
});

test('a gap is fetched, after it had time to close by itself', async (t) => {
  const page = await roomOf(t, 1);
  // In one go: the page's clock goes on between two.
  const atOnce = await page.evaluate(() => {
    const { message, frames, keep } = window;
    keep(message(2, 'two'), message(3, 'three'), message(4, 'four'));
    frames({ type: 'message.created', message: message(4, 'four') });
    return window.told();
  });
  assert.deepEqual(atOnce, ['text 1', 'four']);
  await page.clock.runFor(1000);
  assert.deepEqual(await told(page), ['text 1', 'two', 'three', 'four']);

  await page.evaluate(() => {
    window.keep(window.message(5, 'five'));
    window.frames({ type: 'pong', spaceId: undefined, spaces: { s: 5 } });
  });
  await page.clock.runFor(1000);
  assert.deepEqual(await told(page), ['text 1', 'two', 'three', 'four', 'five']);
});

test('whoever is far behind starts anew at the end', async (t) => {
  const page = await roomOf(t, 1);
  await page.evaluate(() => {
    for (let seq = 2; seq <= 1500; seq += 1) window.keep(window.message(seq, `text ${seq}`));
    window.frames({ type: 'subscribed', seq: 1500, from: 1301, active: [] });
  });
  await page.clock.runFor(1000);
  const texts = await told(page);
  assert.deepEqual([texts[0], texts.at(-1), texts.length], ['text 1451', 'text 1500', 50]);
  assert.ok((await page.evaluate(() => window.asked.length)) <= 2, 'it asked for all that lay between');
});

test('a cut message is shown once it is whole', async (t) => {
  const page = await roomOf(t, 1);
  await page.evaluate(() => {
    window.keep(window.message(2, 'the whole text'));
    window.frames({ type: 'message.created', message: window.message(2, 'the wh', { truncated: true }) });
  });
  await page.waitForFunction(() => window.told().length === 2);
  assert.deepEqual(await told(page), ['text 1', 'the whole text']);
});

test('a cut message that could not be fetched is unfinished, and asked for again until it is whole', async (t) => {
  const page = await roomOf(t, 1);
  const state = () => page.evaluate(() => [window.told(), window.room.messages.unfinished()]);
  const asked = () => page.evaluate(() => window.asked.length);
  await page.evaluate(() => {
    window.isDown = true;
    window.keep(window.message(2, 'the whole text'));
    window.frames({ type: 'message.created', message: window.message(2, 'the wh', { truncated: true }) });
  });
  await page.waitForFunction(() => window.told().length === 2);
  const before = await asked();
  await page.clock.runFor(4000);
  assert.deepEqual(await state(), [['text 1', 'the wh'], [2]]);
  assert.ok((await asked()) > before, 'it was not asked for again');
  await page.evaluate(() => (window.isDown = false));
  await page.clock.runFor(4000);
  assert.deepEqual(await state(), [['text 1', 'the whole text'], []]);
  const whole = await asked();
  await page.clock.runFor(10_000);
  assert.equal(await asked(), whole, 'what is whole was asked for again');
});

test('a message takes the place of its stream, and late frames bring nothing back', async (t) => {
  const page = await roomOf(t, 1);
  const states = await page.evaluate(() => {
    const { message, frames, told } = window;
    const states = [];
    const sender = { id: 'ada', name: 'Ada', type: 'agent' };
    frames({ type: 'stream.delta', streamId: 'x', offset: 6, text: 'world' }, { type: 'stream.snapshot', streamId: 'x', text: 'Hello ' });
    states.push(told());
    frames({ type: 'stream.started', streamId: 'x', runId: 'r', callId: 'c', attempt: 1, sender, kind: 'message' });
    frames({ type: 'message.created', message: message(2, 'Hello world.', { runId: 'r', streamId: 'x' }) });
    states.push(told());
    frames({ type: 'stream.delta', streamId: 'x', offset: 11, text: '.' }, { type: 'stream.snapshot', streamId: 'x', text: 'Hello' });
    frames({ type: 'stream.ended', streamId: 'x', messageId: 'm2' });
    states.push(told());
    return states;
  });
  assert.deepEqual(states, [['text 1', 'Hello world|'], ['text 1', 'Hello world.'], ['text 1', 'Hello world.']]);
});

test('a stream without a message goes: at once with a reason, else after a moment, else after a minute of silence', async (t) => {
  const page = await roomOf(t, 1);
  const begin = (streamId) =>
    page.evaluate((id) => {
      const sender = { id: 'ada', name: 'Ada', type: 'agent' };
      window.frames({ type: 'stream.started', streamId: id, runId: `run of ${id}`, callId: id, attempt: 1, sender, kind: 'message' });
      window.frames({ type: 'stream.delta', streamId: id, offset: 0, text: id });
    }, streamId);
  const hand = (frame) => page.evaluate((given) => window.frames(given), frame);

  await begin('canceled');
  await hand({ type: 'stream.ended', streamId: 'canceled', reason: 'canceled' });
  assert.deepEqual(await told(page), ['text 1']);

  await begin('its run ends');
  await hand({ type: 'run.completed', run: { id: 'run of its run ends', agentId: 'ada', status: 'completed' } });
  assert.deepEqual(await told(page), ['text 1', 'its run ends|']);
  await page.clock.runFor(3000);
  assert.deepEqual(await told(page), ['text 1']);

  await begin('silent');
  await page.clock.runFor(50_000);
  assert.deepEqual(await told(page), ['text 1', 'silent|']);
  await page.clock.runFor(20_000);
  assert.deepEqual(await told(page), ['text 1']);

  await begin('message on its way');
  await page.evaluate(() => window.keep(window.message(2, 'kept', { streamId: 'message on its way' })));
  await hand({ type: 'stream.ended', streamId: 'message on its way', messageId: 'm2' });
  await page.clock.runFor(3000);
  assert.deepEqual(await told(page), ['text 1', 'kept']);
});

test('who is at work, and whose work failed', async (t) => {
  const page = await roomOf(t, 1);
  const active = () => page.evaluate(() => window.room.runs.active().map(({ runId, status }) => `${runId} ${status}`));
  const hand = (...frames) => page.evaluate((given) => window.frames(...given), frames);
  const run = (id, status, more = {}) => ({ type: `run.${status}`, run: { id, agentId: 'ada', status, ...more } });

  await hand({ type: 'subscribed', seq: 1, from: 2, active: [{ runId: 'a', agentId: 'ada', status: 'running' }] });
  await hand(run('b', 'running'), run('c', 'waiting_tool'));
  assert.deepEqual(await active(), ['a running', 'b running', 'c waiting_tool']);
  const error = { code: 'overloaded', message: 'try later' };
  await hand(run('b', 'failed', { error, finishedAt: new Date(Date.UTC(2026, 1)).toISOString() }), run('b', 'running'), run('c', 'canceled'));
  assert.deepEqual(await active(), ['a running']);
  assert.deepEqual(await told(page), ['text 1', 'try later (overloaded)']);
  await hand({ type: 'subscribed', seq: 1, from: 2, active: [] });
  assert.deepEqual(await active(), []);
});

test('members come and go, and a space changes its name or ends', async (t) => {
  const page = await roomOf(t, 0);
  const state = () => page.evaluate(() => [window.room.space.name, window.room.space.members.map(({ id }) => id), window.room.isGone]);
  const hand = (...frames) => page.evaluate((given) => window.frames(...given), frames);
  await hand({ type: 'member.joined', member: { id: 'bob', name: 'Bob', type: 'agent', role: 'member' } });
  await hand({ type: 'member.joined', member: { id: 'bob', name: 'Bob', type: 'agent', role: 'owner' } });
  assert.deepEqual(await state(), ['S', ['ada', 'bob'], false]);
  await hand({ type: 'member.left', entityId: 'bob' });
  assert.deepEqual(await state(), ['S', ['ada'], false]);
  assert.equal(await page.evaluate(() => window.room.nameOf('bob')), 'Bob');
  await hand({ type: 'space.updated', space: { id: 's', name: 'Renamed', members: [{ id: 'ada', name: 'Ada', type: 'agent' }] } });
  assert.deepEqual(await state(), ['Renamed', ['ada'], false]);
  await hand({ type: 'space.deleted' });
  assert.deepEqual(await state(), ['Renamed', ['ada'], true]);
});
