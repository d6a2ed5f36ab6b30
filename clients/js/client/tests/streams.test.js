// The texts that agents are writing, assembled from frames.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomOf } from './model/clock.js';
import { moduleOf } from './model/library.js';
import { recorded } from './model/recorded.js';

const { initialState } = await moduleOf('space/state.js');
const { createStores } = await moduleOf('space/stores.js');
const { NO_STREAMS, closeStreams, putFrame } = await moduleOf('space/streams.js');

const WHOLE = 'Ein Möwenschrei 🕊️ über dem Hafen, 你好, dann Stille.'.repeat(4);

// The text in pieces of random length, some of them twice, with two snapshots, in random order.
function pieces(random) {
  const delta = { type: 'stream.delta', streamId: 's' };
  const snapshot = { type: 'stream.snapshot', streamId: 's' };
  const half = random.below(WHOLE.length);
  const frames = [
    { ...snapshot, text: WHOLE.slice(0, half) },
    { ...snapshot, offset: half, text: WHOLE.slice(half, half + 20) },
  ];
  for (let offset = 0; offset < WHOLE.length;) {
    const length = 1 + random.below(9);
    const frame = { ...delta, offset, text: WHOLE.slice(offset, offset + length) };
    frames.push(frame, ...(random.chance(0.3) ? [frame] : []));
    offset += length;
  }
  return frames
    .map((frame) => [random(), frame])
    .sort(([one], [other]) => one - other)
    .map(([, frame]) => frame);
}

test('pieces of a stream fit together in any order, with duplicates and overlaps', () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const state = { ...NO_STREAMS };
    for (const frame of pieces(randomOf(seed))) {
      putFrame(state, recorded(frame), 0);
      const { text } = state.streams.get('s');
      assert.ok(WHOLE.startsWith(text), `seed ${seed}: ${text}`);
    }
    assert.equal(state.streams.get('s').text, WHOLE, `seed ${seed}`);
  }
});

test('the later attempt of a call wins, in any order of frames', () => {
  const frames = [
    { type: 'stream.started', streamId: 'one', callId: 'c', attempt: 1 },
    { type: 'stream.delta', streamId: 'one', offset: 0, text: 'first' },
    { type: 'stream.started', streamId: 'two', callId: 'c', attempt: 2 },
    { type: 'stream.delta', streamId: 'two', offset: 0, text: 'second' },
  ];
  const orders = [
    [0, 1, 2, 3],
    [2, 3, 0, 1],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
  ];
  for (const order of orders) {
    const state = { ...NO_STREAMS };
    for (const index of order) putFrame(state, recorded(frames[index]), 0);
    assert.deepEqual(
      [...state.streams.values()].map(({ text }) => text),
      ['second'],
    );
  }
});

test('of very many streams that are over, the last ones stay closed', () => {
  const state = { ...NO_STREAMS };
  for (let count = 0; count < 3000; count += 1) closeStreams(state, [`s${count}`]);
  assert.ok(state.closedStreams.size <= 1000, `${state.closedStreams.size} are remembered`);
  const late = { type: 'stream.delta', streamId: 's2999', offset: 0, text: 'late' };
  putFrame(state, recorded(late), 0);
  assert.equal(state.streams.size, 0);
});

test('the store of a stream that is over stays while somebody subscribes', () => {
  const state = { ...initialState('s', null, true), closedStreams: new Set(['one', 'two']) };
  const stores = createStores({
    env: {},
    state: () => state,
    change() {},
    retain: () => () => {},
    changed() {},
  });
  const before = ['one', 'two', 'open'].map((id) => stores.stream(id));
  const stop = before[0].subscribe(() => {});
  stores.notify(state, { ...state });
  const after = ['one', 'two', 'open'].map((id, index) => stores.stream(id) === before[index]);
  assert.deepEqual(after, [true, false, true]);
  stop();
  stores.notify(state, { ...state });
  assert.notEqual(stores.stream('one'), before[0]);
});
