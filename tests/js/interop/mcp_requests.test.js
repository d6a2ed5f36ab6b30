// The MCP server as raw requests see it: limits, schemas, resources and their changes.

import assert from 'node:assert/strict';
import { TextDecoderStream } from 'node:stream/web';
import { test } from 'node:test';
import { scene } from './mcp_scene.js';

const postOf = (space) => ({
  name: 'post_message',
  arguments: { spaceId: space.id, text: 'Hello' },
});

test('an entity has some calls open, and a wait ends with its client', async (t) => {
  const WAITS = 12;
  const { api, space, bearer, send, call } = await scene(t);
  const wait = (timeoutSeconds, signal) => {
    const input = { spaceId: space.id, afterSeq: 0, timeoutSeconds };
    return call('wait_for_messages', input, { signal });
  };
  const gone = new AbortController();
  const firstWouldEnd = Date.now() + 20_000;
  const waits = Array.from({ length: WAITS }, async () => {
    for (;;) {
      const result = await wait(20, gone.signal).catch((error) => error.name);
      // One may be refused, because the question whether all are open was open, too.
      if (!result.isError) return result;
    }
  });
  const isFull = async () => {
    const { isError, structuredContent } = await wait(1);
    if (!isError) return false;
    const detail = '12 calls of this entity wait; expected no more at once';
    assert.deepEqual(structuredContent, { status: 429, detail, retryAfter: 5 });
    return true;
  };
  await api.waitFor(isFull);
  const listed = await send('tools/list', {}, bearer);
  assert.ok((await listed.json()).result.tools.length >= 10, 'other calls have room');
  gone.abort();
  assert.deepEqual(await Promise.all(waits), Array(WAITS).fill('AbortError'));
  await api.waitFor(async () => !(await isFull()));
  assert.ok(Date.now() < firstWouldEnd, 'the waits went on until their time was up');
});

test('optional fields of tools have one type', async (t) => {
  const { bearer, send } = await scene(t);
  const { result } = await (await send('tools/list', {}, bearer)).json();
  const typesIn = (schema) =>
    Object.entries(schema ?? {}).flatMap(([key, value]) => {
      if (key === 'type') return [value];
      return typeof value === 'object' ? typesIn(value) : [];
    });
  for (const { name, inputSchema } of result.tools) {
    const types = typesIn(inputSchema);
    assert.ok(types.length > 0, name);
    for (const type of types) assert.ok(typeof type !== 'object' || !Array.isArray(type), name);
  }
});

test('a resource that does not exist is named in the error', async (t) => {
  const { bearer, send } = await scene(t);
  const uri = 'smartspace://spaces/nowhere';
  const { error } = await (await send('resources/read', { uri }, bearer)).json();
  assert.deepEqual(error.data, { uri });
});

test('a client of 2026-07-28 follows a space as a resource', async (t) => {
  const { api, space, bearer, send } = await scene(t);
  const uri = `smartspace://spaces/${space.id}`;
  const foreign = 'smartspace://spaces/spc_01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const method = 'subscriptions/listen';
  const name = (field) => `io.modelcontextprotocol/${field}`;
  const params = {
    notifications: { resourceSubscriptions: [foreign, uri, 'file:///other'] },
    _meta: {
      [name('protocolVersion')]: '2026-07-28',
      [name('clientInfo')]: { name: 'interop-tests', version: '1.0.0' },
      [name('clientCapabilities')]: {},
    },
  };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
  const gone = new AbortController();
  const response = await send(method, params, { ...bearer, ...headers }, gone.signal);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  const received = [];
  const reading = (async () => {
    let text = '';
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const events = text.split('\n\n');
      text = events.pop();
      for (const event of events) {
        const data = event.split('\n').find((line) => line.startsWith('data: {'));
        if (data) received.push(JSON.parse(data.slice('data: '.length)));
      }
    }
  })().catch((error) => error.name);
  const has = (wanted) => async () => received.some(({ method: got }) => got === wanted);
  await api.waitFor(has('notifications/subscriptions/acknowledged'));
  const accepted = received[0].params.notifications;
  assert.deepEqual(accepted.resourceSubscriptions, [uri]);
  // The stream acknowledges before it follows the space, so messages are posted until one is seen.
  await api.waitFor(async () => {
    await send('tools/call', postOf(space), bearer);
    return has('notifications/resources/updated')();
  });
  const updated = received.find(({ method: got }) => got === 'notifications/resources/updated');
  assert.equal(updated.params.uri, uri);
  gone.abort();
  assert.equal(await reading, 'AbortError');
});
