// Sends that wait, that another tab or the next page sends, and in which order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClosedError } from './model/library.js';
import { memoryStorage } from './model/network.js';
import { SARAH, deferred, message, openRoom } from './model/room.js';

const pending = (room) =>
  room.space.timeline.getSnapshot().items.flatMap(({ send }) => (send ? [send] : []));
const posts = (room) => room.calls.filter((call) => call === 'POST /v1/spaces/s/messages').length;

const isPost = ({ method, path }) => method === 'POST' && path.endsWith('/messages');

/** Two tabs of one person, which both show a send that has the state. */
async function twoTabs(status) {
  const storage = memoryStorage();
  const refuse = (each) => (isPost(each) ? { status, body: {} } : null);
  const open = () => openRoom(1, { storage, me: SARAH, respond: refuse });
  const one = await open();
  one.space.send('hello').catch(() => {});
  await one.clock.advance(100);
  const other = await open();
  await other.clock.advance(100);
  return [one, other, open];
}

test('a send that one tab discards is not sent by another', async () => {
  const [one, other, open] = await twoTabs(503);
  assert.deepEqual([pending(one).length, pending(other).length], [1, 1]);
  one.space.discard(pending(one)[0].key);
  other.calls.length = 0;
  await other.clock.advance(60_000);
  assert.deepEqual([posts(other), pending(other)], [0, []]);
  // Nor by a page that is opened later.
  const later = await open();
  await later.clock.advance(1000);
  assert.deepEqual([posts(later), pending(later)], [0, []]);
});

test('a failed send that one tab sends again is not sent again by another', async () => {
  const [one, other] = await twoTabs(422);
  assert.deepEqual([pending(one)[0].state, pending(other)[0].state], ['failed', 'failed']);
  one.space.resend(pending(one)[0].key);
  other.calls.length = 0;
  other.space.resend(pending(other)[0].key);
  await other.clock.advance(1000);
  assert.deepEqual([posts(other), pending(other)], [0, []]);
});

test('the mark of a discarded send is removed after a day', async () => {
  const storage = memoryStorage();
  const room = await openRoom(1, { storage });
  room.isDown = true;
  room.space.send('hello').catch(() => {});
  await room.clock.advance(1000);
  room.space.discard(pending(room)[0].key);
  assert.equal(storage.length, 1);
  await openRoom(1, { storage });
  assert.equal(storage.length, 1);
  const now = () => room.clock.now + 25 * 3_600_000;
  await openRoom(1, { storage, now });
  assert.equal(storage.length, 0);
});

test('the mark of a discarded send outlives an attempt that is under way', async () => {
  for (const status of [503, 422]) {
    const storage = memoryStorage();
    const refuse = (each) => isPost(each) && { status: 503, body: {} };
    const one = await openRoom(1, { storage, me: SARAH, respond: refuse });
    one.space.send('hello').catch(() => {});
    await one.clock.advance(100);
    const answer = deferred();
    const slow = (each) => isPost(each) && { status, body: answer.promise };
    const other = await openRoom(1, { storage, me: SARAH, respond: slow });
    one.space.discard(pending(one)[0].key);
    other.respond = () => null;
    other.calls.length = 0;
    answer.resolve({});
    await other.clock.advance(30_000);
    for (const { key } of pending(other)) other.space.resend(key);
    await other.clock.advance(30_000);
    assert.equal(posts(other), 0, `after ${status}`);
  }
});

test('a send that has not failed is not sent under another key', async () => {
  const room = await openRoom(1, { respond: (each) => isPost(each) && { status: 503, body: {} } });
  room.space.send('hello').catch(() => {});
  await room.clock.advance(10);
  const [{ key }] = pending(room);
  room.space.resend(key);
  assert.deepEqual(
    pending(room).map((send) => send.key),
    [key],
  );
});

const tooMany = { status: 429, body: {}, headers: { 'retry-after': '60' } };
const textsOf = (room) => room.stored.map(({ parts: [part] }) => part.text);

test('a send that is discarded during a pause does not stop the next one', async () => {
  const room = await openRoom(0, { respond: (each) => isPost(each) && tooMany });
  const discarded = assert.rejects(room.space.send('one'), /was discarded/);
  await room.clock.advance(10);
  room.respond = () => null;
  room.space.discard(pending(room)[0].key);
  await discarded;
  await room.clock.advance(61_000);
  room.space.send('two');
  await room.clock.advance(10);
  assert.deepEqual(textsOf(room), ['two']);
});

test('a page that loads does not shorten a pause that the server asked for', async () => {
  const page = deferred();
  const respond = (each) => {
    if (isPost(each)) return tooMany;
    return each.path.includes('/messages?') ? { status: 200, body: page.promise } : null;
  };
  const room = await openRoom(0, { respond });
  room.space.send('one').catch(() => {});
  await room.clock.advance(10);
  page.resolve({ items: [] });
  await room.clock.advance(30_000);
  assert.equal(posts(room), 1);
  room.respond = () => null;
  await room.clock.advance(60_000);
  assert.deepEqual(textsOf(room), ['one']);
});

test('what an earlier page left is sent before what a page sends while it loads', async () => {
  const storage = memoryStorage();
  const refuse = (each) => (isPost(each) ? { status: 503, body: {} } : null);
  const before = await openRoom(0, { storage, me: SARAH, respond: refuse });
  before.space.send('one').catch(() => {});
  await before.clock.advance(100);
  before.client.close();
  const me = deferred();
  const respond = ({ path }) => (path === '/v1/me' ? { status: 200, body: me.promise } : null);
  const now = () => before.clock.now + 1000;
  const room = await openRoom(0, { storage, respond, now });
  const sent = room.space.send('two');
  await room.clock.advance(100);
  assert.equal(posts(room), 0);
  me.resolve(SARAH);
  await room.clock.advance(100);
  assert.deepEqual(textsOf(room), ['one', 'two']);
  assert.equal((await sent).parts[0].text, 'two');
});

test('a send survives a reload while the messages of its space are not loaded', async () => {
  const storage = memoryStorage();
  const respond = ({ path }) => (path.includes('/messages') ? { status: 503, body: {} } : null);
  const room = await openRoom(0, { storage, me: SARAH, respond });
  room.space.send('hello').catch(() => {});
  await room.clock.advance(100);
  room.client.close();
  const next = await openRoom(0, { storage, me: SARAH });
  assert.deepEqual(textsOf(next), ['hello']);
});

test('a space that nobody opens sends, also if the caller can’t be found', async () => {
  for (const status of [200, 403]) {
    const respond = ({ path }) => (path === '/v1/me' ? { status, body: SARAH } : null);
    const room = await openRoom(0, { me: SARAH, respond });
    const other = room.client.space('other');
    const sent = other.send('hello');
    await room.clock.advance(100);
    assert.equal((await sent).parts[0].text, 'hello', `after ${status}`);
  }
});

test('a closed client stores no further send, so that the next one does not send it', async () => {
  const storage = memoryStorage();
  const room = await openRoom(0, { storage, me: SARAH });
  room.client.close();
  await assert.rejects(room.space.send('refused'), ClosedError);
  await room.clock.advance(100);
  const next = await openRoom(0, { storage, me: SARAH });
  assert.deepEqual([pending(room), textsOf(next)], [[], []]);
});

test('what an earlier page left is posted once a caller who was refused is found', async () => {
  const storage = memoryStorage();
  const first = await openRoom(0, {
    storage,
    me: SARAH,
    respond: (each) => isPost(each) && { status: 503, body: {} },
  });
  first.space.send('left').catch(() => {});
  await first.clock.advance(100);
  assert.equal(storage.length, 1);
  let refused = true;
  const room = await openRoom(0, {
    storage,
    me: SARAH,
    respond: ({ path }) => (refused && path === '/v1/me' ? { status: 403, body: {} } : null),
  });
  room.space.send('new').catch(() => {});
  await room.clock.advance(100);
  refused = false;
  room.leave();
  await room.clock.advance(5000);
  room.enter();
  await room.clock.advance(5000);
  assert.equal(room.space.timeline.getSnapshot().isLoading, false);
  assert.deepEqual(
    room.stored.map(({ parts: [part] }) => part.text),
    ['new', 'left'],
  );
});

test('no old message with the same text passes for a send from before the load', async () => {
  const page = deferred();
  let status = 503;
  const respond = (each) => {
    if (isPost(each)) return { status, body: {} };
    return each.path.includes('/messages?') ? { status: 200, body: page.promise } : null;
  };
  const room = await openRoom(3, { me: SARAH, respond });
  room.stored[1] = message(2, 'ok', { sender: SARAH.entity });
  const sent = assert.rejects(room.space.send('ok'));
  await room.clock.advance(50);
  page.resolve({ items: room.stored });
  await room.clock.advance(100);
  assert.equal(pending(room).length, 1);
  status = 422;
  await room.clock.advance(30_000);
  await sent;
  assert.equal(pending(room)[0].state, 'failed');
});

test('a send from before the load keeps its key if its message overtakes the answer', async () => {
  const answer = deferred();
  const page = deferred();
  const respond = (each) => {
    if (isPost(each)) return { status: 200, body: answer.promise };
    return each.path.includes('/messages?') ? { status: 200, body: page.promise } : null;
  };
  const room = await openRoom(3, { me: SARAH, respond });
  room.space.send('hello').catch(() => {});
  await room.clock.advance(50);
  const [{ key }] = pending(room);
  page.resolve({ items: room.stored });
  await room.clock.advance(100);
  const stored = message(4, 'hello', { sender: SARAH.entity });
  room.frames({ type: 'message.created', message: stored });
  await room.clock.advance(10);
  const last = room.space.timeline.getSnapshot().items.at(-1);
  assert.deepEqual([last.type, last.key], ['message', key]);
});

test('a closed client does not store again what the next one has sent', async () => {
  const storage = memoryStorage();
  const respond = (each) =>
    isPost(each) && { status: 503, body: {}, headers: { 'retry-after': '10' } };
  const room = await openRoom(0, { storage, me: SARAH, respond });
  const sent = assert.rejects(room.space.send('one'), ClosedError);
  await room.clock.advance(100);
  room.client.close();
  const next = await openRoom(0, { storage, me: SARAH, now: () => room.clock.now });
  await next.clock.advance(1000);
  assert.deepEqual([textsOf(next), storage.length], [['one'], 0]);
  await room.clock.advance(20_000);
  await sent;
  assert.equal(storage.length, 0);
});
