// Frames in every order: the state of a room with a fake server and a clock that the test moves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab } from './console_page.js';
import { product } from './suite.js';

// Runs in the page: opens a room with `messageCount` messages. `shownTexts()` returns the texts
// that it would show.
async function makeRoom(messageCount) {
  const { Room } = await import('/console/room.js');
  const { bubblesOf } = await import('/console/bubbles.js');
  const ada = { id: 'ada', name: 'Ada', type: 'agent' };
  const stored = [];
  const requests = [];
  window.runs = [];
  window.message = (seq, text, more = {}) => {
    const at = new Date(Date.UTC(2026, 0, 1, 0, seq)).toISOString();
    return {
      id: `m${seq}`,
      seq,
      rev: 1,
      sender: ada,
      parts: [{ type: 'text', text }],
      runId: null,
      streamId: null,
      dispatch: [],
      createdAt: at,
      ...more,
    };
  };
  window.store = (...messages) => stored.push(...messages);
  for (let seq = 1; seq <= messageCount; seq += 1) window.store(window.message(seq, `text ${seq}`));
  const api = {
    get: async (path) =>
      path.includes('/runs')
        ? { items: window.runs }
        : { id: 's', name: 'S', seq: stored.length, members: [ada] },
    messages: async (_, { after, before }, limit) => {
      requests.push(after ?? before);
      if (window.isDown) throw new Error('no response');
      return after === undefined
        ? stored.filter(({ seq }) => seq < before).slice(-limit)
        : stored.filter(({ seq }) => seq > after).slice(0, limit);
    },
  };
  window.room = await Room.open(api, 's', () => {});
  window.frames = (...frames) =>
    frames.forEach((frame) => window.room.handle({ spaceId: 's', ...frame }));
  window.requests = requests;
  const textOf = ({ message, stream, failure }) =>
    message?.parts[0].text ?? failure?.message ?? `${stream.text}|`;
  window.shownTexts = () => bubblesOf(window.room).flatMap(({ entries }) => entries.map(textOf));
}

async function openRoom(t, messageCount) {
  const page = await openTab(t);
  await page.clock.install();
  await page.goto(product.base);
  await page.evaluate(makeRoom, messageCount);
  return page;
}

const shownTexts = (page) => page.evaluate(() => window.shownTexts());

test('messages may arrive out of order, twice and in older revisions', async (t) => {
  const page = await openRoom(t, 1);
  await page.evaluate(() => {
    const { message, frames } = window;
    window.store(message(2, 'two'), message(3, 'three'));
    frames({ type: 'message.updated', message: message(3, 'three, decided', { rev: 2 }) });
    frames(
      { type: 'message.created', message: message(3, 'three') },
      { type: 'message.created', message: message(2, 'two') },
    );
    frames(
      { type: 'message.created', message: message(2, 'two') },
      { type: 'message.created', spaceId: 'elsewhere', message: message(4, 'four') },
    );
  });
  assert.deepEqual(await shownTexts(page), ['text 1', 'two', 'three, decided']);
});

test('a gap is fetched after a delay', async (t) => {
  const page = await openRoom(t, 1);
  // In one call, because the page's clock runs between two calls.
  const atOnce = await page.evaluate(() => {
    const { message, frames, store } = window;
    store(message(2, 'two'), message(3, 'three'), message(4, 'four'));
    frames({ type: 'message.created', message: message(4, 'four') });
    return window.shownTexts();
  });
  assert.deepEqual(atOnce, ['text 1', 'four']);
  await page.clock.runFor(1000);
  assert.deepEqual(await shownTexts(page), ['text 1', 'two', 'three', 'four']);

  await page.evaluate(() => {
    window.store(window.message(5, 'five'));
    window.frames({ type: 'pong', spaceId: undefined, spaces: { s: 5 } });
  });
  await page.clock.runFor(1000);
  assert.deepEqual(await shownTexts(page), ['text 1', 'two', 'three', 'four', 'five']);
});

test('a room that is far behind reloads its last page only', async (t) => {
  const page = await openRoom(t, 1);
  await page.evaluate(() => {
    for (let seq = 2; seq <= 1500; seq += 1) window.store(window.message(seq, `text ${seq}`));
    window.frames({ type: 'subscribed', seq: 1500, from: 1301, active: [] });
  });
  await page.clock.runFor(1000);
  const texts = await shownTexts(page);
  assert.deepEqual([texts[0], texts.at(-1), texts.length], ['text 1451', 'text 1500', 50]);
  assert.ok(
    (await page.evaluate(() => window.requests.length)) <= 2,
    'it fetched more than the last page',
  );
});

test('a truncated message is shown once it is complete', async (t) => {
  const page = await openRoom(t, 1);
  await page.evaluate(() => {
    window.store(window.message(2, 'the whole text'));
    window.frames({
      type: 'message.created',
      message: window.message(2, 'the wh', { truncated: true }),
    });
  });
  await page.waitForFunction(() => window.shownTexts().length === 2);
  assert.deepEqual(await shownTexts(page), ['text 1', 'the whole text']);
});

test('a truncated message is fetched again until it is complete', async (t) => {
  const page = await openRoom(t, 1);
  const state = () => page.evaluate(() => [window.shownTexts(), window.room.messages.unfinished()]);
  const requestCount = () => page.evaluate(() => window.requests.length);
  await page.evaluate(() => {
    window.isDown = true;
    window.store(window.message(2, 'the whole text'));
    window.frames({
      type: 'message.created',
      message: window.message(2, 'the wh', { truncated: true }),
    });
  });
  await page.waitForFunction(() => window.shownTexts().length === 2);
  const before = await requestCount();
  await page.clock.runFor(4000);
  assert.deepEqual(await state(), [['text 1', 'the wh'], [2]]);
  assert.ok((await requestCount()) > before, 'the message was not fetched again');
  await page.evaluate(() => (window.isDown = false));
  await page.clock.runFor(4000);
  assert.deepEqual(await state(), [['text 1', 'the whole text'], []]);
  const whole = await requestCount();
  await page.clock.runFor(10_000);
  assert.equal(await requestCount(), whole, 'a complete message was fetched again');
});

test('a message replaces its stream, and late frames do not reopen it', async (t) => {
  const page = await openRoom(t, 1);
  const states = await page.evaluate(() => {
    const { message, frames, shownTexts } = window;
    const states = [];
    const sender = { id: 'ada', name: 'Ada', type: 'agent' };
    frames(
      { type: 'stream.delta', streamId: 'x', offset: 6, text: 'world' },
      { type: 'stream.snapshot', streamId: 'x', text: 'Hello ' },
    );
    states.push(shownTexts());
    frames({
      type: 'stream.started',
      streamId: 'x',
      runId: 'r',
      callId: 'c',
      attempt: 1,
      sender,
      kind: 'message',
    });
    frames({
      type: 'message.created',
      message: message(2, 'Hello world.', { runId: 'r', streamId: 'x' }),
    });
    states.push(shownTexts());
    frames(
      { type: 'stream.delta', streamId: 'x', offset: 11, text: '.' },
      { type: 'stream.snapshot', streamId: 'x', text: 'Hello' },
    );
    frames({ type: 'stream.ended', streamId: 'x', messageId: 'm2' });
    states.push(shownTexts());
    return states;
  });
  assert.deepEqual(states, [
    ['text 1', 'Hello world|'],
    ['text 1', 'Hello world.'],
    ['text 1', 'Hello world.'],
  ]);
});

test('a stream without a message is dropped: canceled, run ended, or silent', async (t) => {
  const page = await openRoom(t, 1);
  const begin = (streamId) =>
    page.evaluate((id) => {
      const sender = { id: 'ada', name: 'Ada', type: 'agent' };
      window.frames({
        type: 'stream.started',
        streamId: id,
        runId: `run of ${id}`,
        callId: id,
        attempt: 1,
        sender,
        kind: 'message',
      });
      window.frames({ type: 'stream.delta', streamId: id, offset: 0, text: id });
    }, streamId);
  const deliver = (frame) => page.evaluate((data) => window.frames(data), frame);

  await begin('canceled');
  await deliver({ type: 'stream.ended', streamId: 'canceled', reason: 'canceled' });
  assert.deepEqual(await shownTexts(page), ['text 1']);

  await begin('its run ends');
  await deliver({
    type: 'run.completed',
    run: { id: 'run of its run ends', agentId: 'ada', status: 'completed' },
  });
  assert.deepEqual(await shownTexts(page), ['text 1', 'its run ends|']);
  await page.clock.runFor(3000);
  assert.deepEqual(await shownTexts(page), ['text 1']);

  await begin('silent');
  await page.clock.runFor(50_000);
  assert.deepEqual(await shownTexts(page), ['text 1', 'silent|']);
  await page.clock.runFor(20_000);
  assert.deepEqual(await shownTexts(page), ['text 1']);

  await begin('message on its way');
  await page.evaluate(() =>
    window.store(window.message(2, 'stored', { streamId: 'message on its way' })),
  );
  await deliver({ type: 'stream.ended', streamId: 'message on its way', messageId: 'm2' });
  await page.clock.runFor(3000);
  assert.deepEqual(await shownTexts(page), ['text 1', 'stored']);
});

test('a room tracks active and failed runs', async (t) => {
  const page = await openRoom(t, 1);
  const active = () =>
    page.evaluate(() => window.room.runs.active().map(({ runId, status }) => `${runId} ${status}`));
  const deliver = (...frames) => page.evaluate((data) => window.frames(...data), frames);
  const run = (id, status, more = {}) => ({
    type: `run.${status}`,
    run: { id, agentId: 'ada', status, ...more },
  });

  await deliver({
    type: 'subscribed',
    seq: 1,
    from: 2,
    active: [{ runId: 'a', agentId: 'ada', status: 'running' }],
  });
  await deliver(run('b', 'running'), run('c', 'waiting_tool'));
  assert.deepEqual(await active(), ['a running', 'b running', 'c waiting_tool']);
  const error = { code: 'overloaded', message: 'try later' };
  await deliver(
    run('b', 'failed', { error, finishedAt: new Date(Date.UTC(2026, 1)).toISOString() }),
    run('b', 'running'),
    run('c', 'canceled'),
  );
  assert.deepEqual(await active(), ['a running']);
  assert.deepEqual(await shownTexts(page), ['text 1', 'try later (overloaded)']);
  await deliver({ type: 'subscribed', seq: 1, from: 2, active: [] });
  assert.deepEqual(await active(), []);
});

test('a room tracks members, the name and the deletion of its space', async (t) => {
  const page = await openRoom(t, 0);
  const state = () =>
    page.evaluate(() => [
      window.room.space.name,
      window.room.space.members.map(({ id }) => id),
      window.room.isGone,
    ]);
  const deliver = (...frames) => page.evaluate((data) => window.frames(...data), frames);
  await deliver({
    type: 'member.joined',
    member: { id: 'bob', name: 'Bob', type: 'agent', role: 'member' },
  });
  await deliver({
    type: 'member.joined',
    member: { id: 'bob', name: 'Bob', type: 'agent', role: 'owner' },
  });
  assert.deepEqual(await state(), ['S', ['ada', 'bob'], false]);
  await deliver({ type: 'member.left', entityId: 'bob' });
  assert.deepEqual(await state(), ['S', ['ada'], false]);
  assert.equal(await page.evaluate(() => window.room.nameOf('bob')), 'Bob');
  await deliver({
    type: 'space.updated',
    space: { id: 's', name: 'Renamed', members: [{ id: 'ada', name: 'Ada', type: 'agent' }] },
  });
  assert.deepEqual(await state(), ['Renamed', ['ada'], false]);
  await deliver({ type: 'space.deleted' });
  assert.deepEqual(await state(), ['Renamed', ['ada'], true]);
});
