// Tokens that change, functions that fail, and clients that are closed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClosedError, createClient } from './model/library.js';
import { memoryStorage } from './model/network.js';
import { deferred, openRoom } from './model/room.js';

const person = (id) => ({ kind: 'entity', entity: { id, name: id, type: 'human' } });

/** Refuses every call that has not this token. */
const onlyWith =
  (accepted) =>
  ({ token }) =>
    token === accepted ? null : { status: 401, body: { title: 'Unauthorized' } };

test('a token that is refused for a while ends nothing', async () => {
  let token = 'first';
  const room = await openRoom(1, { token: () => token });
  room.respond = onlyWith('third');
  token = 'second';
  room.frames({ type: 'goodbye', code: 1008, reason: 'expired' });
  const sent = room.space.send('while it is refused');
  await room.clock.advance(5000);
  const { state, error } = room.client.connection.getSnapshot();
  assert.deepEqual([state, error.status], ['offline', 401]);
  assert.equal(room.space.timeline.getSnapshot().items.at(-1).send.state, 'queued');
  token = 'third';
  await room.clock.advance(30_000);
  assert.equal(room.client.connection.getSnapshot().state, 'live');
  assert.equal((await sent).id, 'm2');
});

test('a refused token that is a string closes the connection', async () => {
  const room = await openRoom(1, { token: 'first' });
  room.respond = onlyWith('second');
  room.frames({ type: 'goodbye', code: 1008, reason: 'expired' });
  await room.clock.advance(60_000);
  const { state, error } = room.client.connection.getSnapshot();
  assert.deepEqual([state, error.status], ['closed', 401]);
});

test('a token of somebody else sends nothing that the first person wrote', async () => {
  let token = 'of sarah';
  const storage = memoryStorage();
  const room = await openRoom(1, { token: () => token, me: person('sarah'), storage });
  room.isDown = true;
  const refused = assert.rejects(room.space.send('a secret of Sarah'), ClosedError);
  await room.clock.advance(100);
  room.isDown = false;
  token = 'of husam';
  const posted = [];
  room.respond = (call) => {
    if (call.path.endsWith('/messages') && call.method === 'POST') posted.push(call.token);
    return onlyWith('of husam')(call);
  };
  room.me = person('husam');
  await room.clock.advance(60_000);
  assert.deepEqual(posted, ['of sarah'], 'it was sent with another token');
  await assert.rejects(room.client.request('GET', '/v1/spaces'), (error) => {
    assert.ok(error instanceof ClosedError);
    assert.match(error.message, /belongs to somebody else/);
    return true;
  });
  await refused;
  await assert.rejects(room.space.send('another'), ClosedError);
  assert.equal(room.client.connection.getSnapshot().state, 'closed');

  const next = await openRoom(1, { token: 'of sarah', me: person('sarah'), storage });
  assert.ok(next.calls.includes('POST /v1/spaces/s/messages'), 'the next client sends it');
});

test('a client that is closed closes its connection', async () => {
  const room = await openRoom(1);
  room.client.close();
  assert.equal(room.client.connection.getSnapshot().state, 'closed');
  room.leave();
  room.enter();
  room.calls.length = 0;
  await room.clock.advance(60_000);
  assert.deepEqual([room.calls, room.connects], [[], 1]);
});

test('a closed client makes no calls, and keeps what waits', async () => {
  const storage = memoryStorage();
  const room = await openRoom(1, { storage });
  room.isDown = true;
  room.space.send('later').catch(() => {});
  await room.clock.advance(100);
  room.client.close();
  room.isDown = false;
  room.calls.length = 0;
  await room.clock.advance(300_000);
  assert.deepEqual(room.calls, []);
  assert.equal(room.client.connection.getSnapshot().state, 'closed');
  await assert.rejects(room.client.request('GET', '/v1/me'), /The client is closed/);
  assert.ok([...storage.values()].some((json) => json.includes('later')));
});

test('calls share one token, and a function that fails or hangs is tried again', async () => {
  let asked = 0;
  let answer = () => 'first';
  const token = () => {
    asked += 1;
    return answer();
  };
  const room = await openRoom(1, { token });
  assert.equal(asked, 1, 'calls at the same moment asked for a token each');

  answer = () => 'second';
  room.respond = onlyWith('second');
  await Promise.all([1, 2, 3].map(() => room.client.request('GET', '/v1/spaces/s')));
  assert.equal(asked, 2);

  room.respond = onlyWith('third');
  answer = () => {
    throw new Error('no network');
  };
  await assert.rejects(room.client.request('GET', '/v1/spaces/s'), (error) => {
    assert.deepEqual([error.status, error.isTemporary], [0, true]);
    assert.match(error.message, /`token` failed: Error: no network/);
    return true;
  });
  answer = () => new Promise(() => {});
  const hanging = assert.rejects(room.client.request('GET', '/v1/spaces/s'), /did not answer/);
  await room.clock.advance(21_000);
  await hanging;
  answer = () => 'third';
  assert.equal((await room.client.request('GET', '/v1/spaces/s')).id, 's');
});

test('a call that waits for its next try can be canceled', async () => {
  const room = await openRoom(1);
  room.respond = () => ({ status: 503, body: {} });
  const abort = new AbortController();
  const called = room.client.request('GET', '/v1/me', { retry: true, signal: abort.signal });
  await room.clock.advance(10);
  abort.abort(new Error('enough'));
  await assert.rejects(called, /enough/);
  room.calls.length = 0;
  await room.clock.advance(20_000);
  assert.deepEqual(room.calls, []);
});

test('sends wait for a failed token function no longer than for a failed call', async () => {
  let isBroken = false;
  const token = () => {
    if (isBroken) throw new Error('no network');
    return 'first';
  };
  const room = await openRoom(1, { token });
  isBroken = true;
  room.respond = ({ method }) => (method === 'POST' ? { status: 401, body: {} } : null);
  room.space.send('one').catch(() => {});
  await room.clock.advance(1000);
  isBroken = false;
  room.respond = ({ method }) => (method === 'POST' ? { status: 422, body: {} } : null);
  // Another send wakes the one that waits.
  room.space.send('two').catch(() => {});
  await room.clock.advance(1);
  assert.equal(room.space.timeline.getSnapshot().items.at(-2).send.state, 'failed');
});

test('a call that waits for the token can be canceled; a closed client makes none', async () => {
  const token = deferred();
  let answer = () => 'first';
  const room = await openRoom(1, { token: () => answer() });
  room.respond = onlyWith('second');
  answer = () => token.promise;
  const abort = new AbortController();
  const canceled = room.client.request('GET', '/v1/a', { retry: true, signal: abort.signal });
  const closed = room.client.request('GET', '/v1/b');
  await room.clock.advance(10);
  abort.abort(new Error('enough'));
  await assert.rejects(canceled, /enough/);
  room.client.close();
  room.calls.length = 0;
  token.resolve('second');
  await assert.rejects(closed, ClosedError);
  assert.deepEqual(room.calls, []);
});

test('an answer that breaks off is no answer', async () => {
  const room = await openRoom(1);
  const broken = () => ({ status: 200, body: Promise.reject(new TypeError('terminated')) });
  room.respond = broken;
  await assert.rejects(room.client.request('GET', '/v1/me'), { status: 0, isTemporary: true });
  room.respond = ({ method }) => (method === 'POST' ? broken() : null);
  room.space.send('hello').catch(() => {});
  await room.clock.advance(10);
  assert.equal(room.space.timeline.getSnapshot().items.at(-1).send.isUnsure, true);
});

test('a token is checked also if its caller became known while it was asked for', async () => {
  const next = deferred();
  const me = deferred();
  let answer = () => 'of sarah';
  const respond = ({ path, token }) => {
    if (path !== '/v1/me') return null;
    return { status: 200, body: token === 'of sarah' ? me.promise : person('husam') };
  };
  const room = await openRoom(1, { token: () => answer(), respond });
  answer = () => next.promise;
  room.respond = (call) => respond(call) ?? onlyWith('of husam')(call);
  const refused = assert.rejects(room.client.request('GET', '/v1/spaces/s'), ClosedError);
  await room.clock.advance(10);
  me.resolve(person('sarah'));
  await room.clock.advance(10);
  next.resolve('of husam');
  await refused;
});

test('an answer that is kept is not sent again until it changes', async () => {
  const asked = [];
  const answers = [
    [200, { items: [1] }, 'W/"a"'],
    [304, null, 'W/"a"'],
    [200, { items: [2] }, 'W/"b"'],
    [304, null, 'W/"a"'],
    [304, null, 'W/"unknown"'],
    [200, { items: [3] }, null],
  ];
  const fetch = async (address, { headers }) => {
    asked.push(headers['if-none-match']);
    const [status, body, etag] = answers.shift();
    const text = body && JSON.stringify(body);
    return new Response(text, { status, headers: etag ? { etag } : {} });
  };
  const client = createClient({ url: 'http://server', token: 'x', environment: { fetch } });
  const ask = (query, options = { keep: true }) =>
    client.request('GET', `/v1/spaces?${query}`, options);
  const first = await ask('limit=1');
  // Another query may ask for the same page.
  assert.equal(await ask('limit=2'), first);
  assert.deepEqual(await ask('limit=2'), { items: [2] });
  assert.equal(await ask('limit=1'), first);
  await assert.rejects(ask('limit=1'), (error) => error.isTemporary);
  assert.deepEqual(await ask('limit=1', {}), { items: [3] });
  const both = 'W/"b", W/"a"';
  assert.deepEqual(asked, [undefined, 'W/"a"', 'W/"a"', 'W/"a", W/"b"', both, undefined]);
});

test('an answer that has not changed says that the server is back', async () => {
  const room = await openRoom(1);
  const path = '/v1/spaces?limit=1';
  let status = 200;
  room.respond = (call) =>
    call.path === path ? { status, body: { items: [] }, headers: { etag: 'W/"a"' } } : null;
  const ask = () => room.client.request('GET', path, { keep: true });
  const first = await ask();
  room.isDown = true;
  room.sockets.at(-1).onclose();
  await room.clock.advance(60_000);
  assert.deepEqual([room.client.connection.getSnapshot().state, room.connects], ['offline', 1]);
  room.isDown = false;
  status = 304;
  assert.equal(await ask(), first);
  await room.clock.advance(10);
  assert.deepEqual([room.client.connection.getSnapshot().state, room.connects], ['live', 2]);
});
