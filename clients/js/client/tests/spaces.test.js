// The list of spaces when its answers come late, or many events ask for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SARAH, deferred, listed, openRoom } from './model/room.js';

const isListing = ({ path }) => path.includes('/v1/spaces?');
const page = (seq) => ({ status: 200, body: { items: [listed(seq)], nextCursor: null } });
const listings = (room) => room.calls.filter((call) => call === 'GET /v1/spaces').length;

test('many spaces that the caller joins at once need two listings at most', async () => {
  const room = await openRoom(1, { me: SARAH, respond: (call) => isListing(call) && page(1) });
  room.client.spaces.subscribe(() => {});
  await room.clock.advance(1000);
  room.calls.length = 0;
  for (let count = 0; count < 50; count += 1)
    room.frames({ type: 'space.joined', spaceId: `new ${count}`, space: { members: [] } });
  await room.clock.advance(1000);
  assert.equal(listings(room), 2);
});

test('a listing that fails late puts no error over a newer answer', async () => {
  const first = deferred();
  const answers = [{ status: 503, body: first.promise }];
  const respond = (call) => isListing(call) && (answers.shift() ?? page(1));
  const room = await openRoom(1, { me: SARAH, respond });
  const { spaces } = room.client;
  spaces.subscribe(() => {});
  await room.clock.advance(100);
  await room.client.reloadSpaces();
  first.resolve({});
  await room.clock.advance(100);
  const { isLoading, error } = spaces.getSnapshot();
  assert.deepEqual([isLoading, error, spaces.getSnapshot().spaces.length], [false, null, 1]);
  assert.equal(listings(room), 2);
});
