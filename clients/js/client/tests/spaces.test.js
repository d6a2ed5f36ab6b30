// The list of spaces when its answers come late, or many events ask for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SARAH, deferred, listed, message, openRoom } from './model/room.js';

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

const OPERATOR = { kind: 'operator', entity: null, capabilities: ['operate'] };
const HUSAM = { id: 'husam', name: 'Husam', type: 'human' };
const short = (seq, text) => ({ seq, at: '2026-06-01T00:00:00Z', sender: HUSAM, excerpt: text });
const card = {
  type: 'tool',
  callId: 'c',
  name: 'get',
  input: {},
  output: null,
  status: 'completed',
};

// The list of these spaces, as `me` sees it.
async function openList(me, items, more = {}) {
  const answer = { status: 200, body: { items, nextCursor: null } };
  const room = await openRoom(0, { me, respond: (call) => isListing(call) && answer, ...more });
  room.onSubscribe = ({ id, spaceId }) =>
    spaceId !== 's' && { type: 'subscribed', id, spaceId, seq: 0, from: null, active: [] };
  room.client.spaces.subscribe(() => {});
  await room.clock.advance(1000);
  const shown = () =>
    room.client.spaces.getSnapshot().spaces.map(({ id, unread }) => `${id} ${unread}`);
  return { room, shown };
}

test('a space with news moves up, and the list follows it from then on', async () => {
  const items = Array.from({ length: 25 }, (_, place) => ({
    ...listed(0, `s${place}`),
    createdAt: `2026-03-${String(28 - place).padStart(2, '0')}T00:00:00Z`,
  }));
  const { room, shown } = await openList(SARAH, items);
  const follows = () => room.sent.some(({ spaceId }) => spaceId === 's24');
  assert.deepEqual([shown()[24], follows()], ['s24 0', false]);
  const lastMessage = short(3, 'we are down, help');
  room.frames({ type: 'space.activity', spaceId: 's24', lastMessage, seq: 3, cards: 1 });
  await room.clock.advance(100);
  assert.equal(shown()[0], 's24 2');
  assert.equal(room.client.spaces.getSnapshot().spaces[0].lastMessage.excerpt, lastMessage.excerpt);
  await room.clock.advance(20_000);
  assert.ok(follows());
});

test('news of a space that is not listed load the list', async () => {
  const { room } = await openList(SARAH, [listed(0)]);
  room.calls.length = 0;
  const lastMessage = short(1, 'hello');
  room.frames({ type: 'space.activity', spaceId: 'new', lastMessage, seq: 1, cards: 0 });
  await room.clock.advance(1000);
  assert.equal(listings(room), 1);
});

test('a change of settings, or a card, is no reason for more unread messages', async () => {
  const known = { ...listed(9), cards: 4, me: { readSeq: 5, readCards: 2, unread: 2 } };
  const members = known.members.map((each) => ({ ...each, readSeq: 5 }));
  const { room, shown } = await openList(SARAH, [{ ...known, members }]);
  assert.deepEqual(shown(), ['s 2']);
  const { id, seq, name } = { ...known, name: 'New' };
  const space = { id, seq, cards: 4, name, members, me: null };
  room.frames({ type: 'space.updated', at: '2026-06-01T00:00:00Z', space });
  assert.deepEqual(shown(), ['s 2']);
  room.frames({ type: 'message.created', message: message(10, '', { parts: [card] }) });
  assert.deepEqual(shown(), ['s 2']);
  room.frames({ type: 'message.created', message: message(11, 'news') });
  assert.deepEqual(shown(), ['s 3']);
  room.frames({ type: 'space.read', entityId: 'sarah', seq: 9, cards: 4 });
  assert.deepEqual(shown(), ['s 1']);
});

test('the operator has unread messages, until it has looked', async () => {
  const looked = { seq: 2, cards: 1 };
  const items = [
    { ...listed(7), cards: 3, me: null, looked },
    { ...listed(1, 'never'), me: null },
  ];
  const bodies = [];
  const respond = (call) => {
    if (call.path.endsWith('/read')) bodies.push(call.body);
    return isListing(call) && { status: 200, body: { items, nextCursor: null } };
  };
  const { room, shown } = await openList(OPERATOR, items, { respond });
  assert.deepEqual(shown().sort(), ['never 1', 's 3']);
  await room.client.space('s').markRead(7);
  await room.clock.advance(100);
  assert.deepEqual(shown().sort(), ['never 1', 's 0']);
  assert.deepEqual(
    bodies.map((body) => JSON.parse(body)),
    [{ seq: 7 }],
  );
});
