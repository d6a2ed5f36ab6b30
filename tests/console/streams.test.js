// Texts that are being written: the console's own module assembles frames, run in a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTab } from './console_page.js';
import { deliver, openFakeRoom } from './fake_server.js';
import { product } from './suite.js';

test('pieces of a stream fit together in any order, with duplicates and overlaps', async (t) => {
  const page = await openTab(t);
  await page.goto(product.base);
  const wrong = await page.evaluate(async () => {
    const { Streams } = await import('/console/streams.js');
    const whole = 'Ein Möwenschrei 🕊️ über dem Hafen, 你好, dann Stille.'.repeat(4);
    const wrong = [];
    for (let round = 0; round < 500; round += 1) {
      const frames = [];
      for (let offset = 0; offset < whole.length;) {
        const length = 1 + Math.floor(Math.random() * 9);
        const frame = {
          type: 'stream.delta',
          streamId: 's',
          offset,
          text: whole.slice(offset, offset + length),
        };
        frames.push(frame, ...(Math.random() < 0.3 ? [frame] : []));
        offset += length;
      }
      const half = Math.floor(Math.random() * whole.length);
      frames.push({ type: 'stream.snapshot', streamId: 's', text: whole.slice(0, half) });
      frames.push({
        type: 'stream.snapshot',
        streamId: 's',
        offset: half,
        text: whole.slice(half, half + 20),
      });
      frames.sort(() => Math.random() - 0.5);
      const streams = new Streams();
      for (const frame of frames) {
        streams.apply(frame, 0);
        const text = streams.all()[0]?.text ?? '';
        if (!whole.startsWith(text)) wrong.push(text);
      }
      if (streams.all()[0].text !== whole) wrong.push(streams.all()[0].text);
    }
    return wrong;
  });
  assert.deepEqual(wrong, []);
});

test('the later attempt of a call wins, in any order of frames', async (t) => {
  const page = await openTab(t);
  await page.goto(product.base);
  const shown = await page.evaluate(async () => {
    const { Streams } = await import('/console/streams.js');
    const frames = [
      { type: 'stream.started', streamId: 'one', callId: 'c', attempt: 1 },
      { type: 'stream.delta', streamId: 'one', offset: 0, text: 'first' },
      { type: 'stream.started', streamId: 'two', callId: 'c', attempt: 2 },
      { type: 'stream.delta', streamId: 'two', offset: 0, text: 'second' },
    ];
    const shown = (order) => {
      const streams = new Streams();
      for (const index of order) streams.apply(frames[index], 0);
      return streams.all().map(({ text }) => text);
    };
    return [
      [0, 1, 2, 3],
      [2, 3, 0, 1],
      [3, 2, 1, 0],
      [1, 3, 0, 2],
    ].map(shown);
  });
  assert.deepEqual(shown, [['second'], ['second'], ['second'], ['second']]);
});

test('a snapshot is asked for when a part of a stream is missing, and not otherwise', async (t) => {
  const page = await openFakeRoom(t);
  const asked = () => page.evaluate(() => window.snapshots);
  const shown = () => page.locator('.entry[data-state="writing"]').allTextContents();
  await deliver(page, () => window.stream('whole', 'Nothing is missing.'));
  await deliver(page, () => [
    ...window.stream('late', 'One '),
    { type: 'stream.delta', streamId: 'late', offset: 8, text: 'three' },
    ...window.stream('lost', 'A '),
    { type: 'stream.delta', streamId: 'lost', offset: 9, text: 'sentence.' },
    { type: 'stream.delta', streamId: 'joined', offset: 5, text: 'text' },
  ]);
  await deliver(page, () => ({ type: 'stream.delta', streamId: 'late', offset: 4, text: 'two ' }));
  await page.clock.runFor(900);
  assert.deepEqual(await asked(), []);
  // Within half a second more, so that not everyone asks at the same moment.
  await page.clock.runFor(700);
  assert.deepEqual((await asked()).sort(), ['joined', 'lost']);
  // It is asked again until the text is there or the stream has ended.
  await deliver(page, () => [
    { type: 'stream.snapshot', streamId: 'lost', text: 'A longer sentence.' },
    { type: 'stream.ended', streamId: 'joined', messageId: 'm1' },
  ]);
  await page.clock.runFor(3000);
  assert.deepEqual((await asked()).sort(), ['joined', 'lost']);
  assert.ok((await shown()).join(' ').includes('A longer sentence.'));
});
