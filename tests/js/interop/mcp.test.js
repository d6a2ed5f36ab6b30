// MCP clients of both revisions of the protocol, unmodified: the SDKs of 2026-07-28 and 2025-11-25.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { connect } from 'node:net';
import { test } from 'node:test';
import * as sdk2026 from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ApiClient, answerRule, callRule, formTool, tokenOf } from '../api_client.js';
import { startProduct } from '../product.js';
import { scene } from './mcp_scene.js';

const SDKS = {
  'the client of 2026-07-28': sdk2026,
  'the client of 2025-11-25': { Client, StreamableHTTPClientTransport },
};
// The server's parser reserves this name.
const RAW = '$serde_json::private::RawValue';
const ANSWER = 'The garden opens at nine.';
const APPROVAL = { message: 'Order 40 roses?', options: ['Approve', 'Reject'] };
const TOOLS = [
  'answer_form',
  'cancel_run',
  'delete_message',
  'edit_message',
  'list_spaces',
  'post_message',
  'react',
  'read_file',
  'read_messages',
  'search_messages',
  'wait_for_messages',
];

/** A client with this credential, which is closed after the test. */
async function connected(t, sdk, base, credential) {
  const client = new sdk.Client({ name: 'interop-tests', version: '1.0.0' });
  const headers = { authorization: `Bearer ${credential}` };
  const url = new URL(`${base}/v1/mcp`);
  await client.connect(new sdk.StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  t.after(() => client.close());
  return client;
}

/** Calls a tool and returns its result. */
async function call(client, name, input) {
  const result = await client.callTool({ name, arguments: input });
  assert.ok(!result.isError, JSON.stringify(result));
  return result.structuredContent;
}

/** Calls a tool that refuses, and returns why. */
async function refusal(client, name, input) {
  const result = await client.callTool({ name, arguments: input });
  assert.ok(result.isError, JSON.stringify(result));
  return result.structuredContent;
}

/** Fails the test if somebody warns. */
function withoutWarnings(t) {
  for (const method of ['warn', 'error'])
    t.mock.method(console, method, (...words) => assert.fail(`warned: ${words.join(' ')}`));
}

// A PNG with one red pixel.
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const fileOf = ({ parts }) => parts.find(({ type }) => type === 'file');
const textsOf = (messages) => messages.map(({ parts }) => parts.find(({ text }) => text)?.text);

for (const [name, sdk] of Object.entries(SDKS)) {
  test(`${name} uses the spaces of a person`, async (t) => {
    withoutWarnings(t);
    const product = await startProduct();
    t.after(product.stop);
    const api = new ApiClient(product);
    const husam = await api.createPerson('Husam');
    const sarah = await api.createPerson('Sarah');
    const order = callRule('approve', APPROVAL, 'You chose: {{result.choice}}');
    const rules = [{ ...order, when: { contains: 'roses' } }, answerRule(ANSWER)];
    const tools = [formTool('approve', { ui: 'buttons' })];
    const guide = await api.createAgent('Guide', rules, 0, tools);
    const slow = await api.createAgent('Slow', [answerRule('One two three.')], 5000);
    const mention = { triggerPolicy: 'mention' };
    const garden = await api.createSpace('Garden', [husam, sarah, guide, slow], mention);
    const secret = await api.createSpace('Secret', [sarah, guide]);
    const client = await connected(t, sdk, product.base, tokenOf(husam, product.jwtSecret));
    const inGarden = { spaceId: garden.id };

    await t.test('lists its tools and spaces', async () => {
      const listed = (await client.listTools()).tools;
      assert.deepEqual(listed.map((tool) => tool.name).sort(), TOOLS);
      const readOnly = listed.filter((tool) => tool.annotations.readOnlyHint);
      const reading = TOOLS.filter((tool) => /^(list|read|search|wait)_/.test(tool));
      assert.deepEqual(readOnly.map((tool) => tool.name).sort(), reading);
      for (const tool of listed) assert.ok(tool.description && tool.inputSchema.type === 'object');
      assert.match(client.getInstructions(), /waitSeconds/);
      const spaces = await call(client, 'list_spaces', {});
      assert.deepEqual(
        spaces.items.map((space) => space.name),
        ['Garden'],
      );
    });

    await t.test('posts and waits for the answer', async () => {
      const text = '@Guide When does it open?';
      const posted = await call(client, 'post_message', { ...inGarden, text, waitSeconds: 20 });
      assert.equal(posted.isOver, true);
      assert.deepEqual(textsOf(posted.messages), [ANSWER]);
      const read = await call(client, 'read_messages', inGarden);
      assert.deepEqual(read.items, await api.messages(garden));
      assert.deepEqual(read.items, [posted.message, ...posted.messages]);
      const last = await call(client, 'read_messages', { ...inGarden, afterSeq: 1, limit: 1 });
      assert.deepEqual(textsOf(last.items), [ANSWER]);
    });

    await t.test('searches messages, and learns what is wrong with a search', async () => {
      const { items } = await call(client, 'search_messages', { query: 'opens has:link' });
      assert.deepEqual(items, []);
      const found = await call(client, 'search_messages', { query: '"garden opens"', limit: 20 });
      assert.deepEqual(
        found.items.map(({ excerpt }) => excerpt),
        [ANSWER],
      );
      const none = await refusal(client, 'search_messages', { query: '-garden' });
      assert.match(none.detail, /^\/query: expected a word/);
      const missing = await client.callTool({ name: 'search_messages', arguments: {} });
      assert.match(missing.content[0].text, /parameters: missing field `query`/);
    });

    await t.test('posts once under one key, and does not wait unless asked', async () => {
      const once = { ...inGarden, text: 'Thanks!', idempotencyKey: 'thanks' };
      const first = await call(client, 'post_message', once);
      assert.deepEqual([first.messages, first.isOver], [[], true]);
      const second = await call(client, 'post_message', once);
      assert.equal(second.message.id, first.message.id);
    });

    await t.test('learns what a message has caused that it posts again', async () => {
      const text = '@Guide Are you there?';
      const once = { ...inGarden, text, waitSeconds: 20, idempotencyKey: 'there' };
      const first = await call(client, 'post_message', once);
      // No event comes any more, so the answer must be read over HTTP.
      const second = await call(client, 'post_message', once);
      assert.deepEqual(second, first);
      assert.deepEqual([second.isOver, textsOf(second.messages)], [true, [ANSWER]]);
    });

    await t.test('waits for a message of a person', async () => {
      const { seq } = (await api.messages(garden)).at(-1);
      const waits = { ...inGarden, afterSeq: seq };
      const none = await call(client, 'wait_for_messages', { ...waits, timeoutSeconds: 1 });
      assert.deepEqual(none, { messages: [], hasMore: false });
      const waiting = call(client, 'wait_for_messages', { ...waits, timeoutSeconds: 20 });
      await api.postMessage(garden, sarah, 'I am here, too.');
      assert.deepEqual(textsOf((await waiting).messages), ['I am here, too.']);
      // It is there already.
      assert.deepEqual(textsOf((await call(client, 'wait_for_messages', waits)).messages), [
        'I am here, too.',
      ]);
    });

    await t.test('answers a form', async () => {
      const text = '@Guide Please order roses.';
      const posted = await call(client, 'post_message', { ...inGarden, text, waitSeconds: 20 });
      assert.equal(posted.isOver, true);
      const card = posted.messages.at(-1);
      const form = card.parts.find(({ type }) => type === 'tool');
      assert.equal(form.status, 'pending');
      const at = { runId: card.runId, callId: form.callId };
      const wrong = await refusal(client, 'answer_form', { ...at, output: { choice: 'Perhaps' } });
      assert.equal(wrong.status, 422);
      await call(client, 'answer_form', { ...at, output: { choice: 'Approve' } });
      const waits = { ...inGarden, afterSeq: card.seq, timeoutSeconds: 20 };
      const { messages } = await call(client, 'wait_for_messages', waits);
      assert.deepEqual(textsOf(messages), ['You chose: Approve']);
      const late = await refusal(client, 'answer_form', { ...at, output: { choice: 'Reject' } });
      assert.equal(late.status, 409);
    });

    await t.test('decides a call that waits for approval', async () => {
      await api.change(guide.id, { agent: { approvals: [{ tools: ['send_message'] }] } });
      const text = '@Guide When does it open?';
      const posted = await call(client, 'post_message', { ...inGarden, text, waitSeconds: 20 });
      assert.equal(posted.isOver, true);
      const message = posted.messages.at(-1);
      const card = message.parts.find(({ type }) => type === 'tool');
      assert.deepEqual([card.ui, card.name], ['approval', 'send_message']);
      assert.equal(card.input.text, ANSWER);
      const at = { runId: message.runId, callId: card.callId };
      const wrong = await refusal(client, 'answer_form', { ...at, output: { choice: 'Approve' } });
      assert.equal(wrong.status, 422);
      await call(client, 'answer_form', { ...at, output: { action: 'approve' } });
      const waits = { ...inGarden, afterSeq: message.seq, timeoutSeconds: 20 };
      const { messages } = await call(client, 'wait_for_messages', waits);
      assert.deepEqual(textsOf(messages), [ANSWER]);
      const late = await refusal(client, 'answer_form', { ...at, output: { action: 'decline' } });
      assert.equal(late.status, 409);
      await api.change(guide.id, { agent: { approvals: [] } });
    });

    await t.test('cancels a run that takes too long', async () => {
      const text = '@Slow Count to three.';
      const posted = await call(client, 'post_message', { ...inGarden, text, waitSeconds: 1 });
      assert.equal(posted.isOver, false);
      const { runId } = posted.message.dispatch.find(({ agentId }) => agentId === slow.id);
      const canceled = await call(client, 'cancel_run', { runId });
      assert.equal(canceled.status, 'canceled');
    });

    await t.test('sends files and reads them', async () => {
      const files = [
        { name: 'roses.md', contentType: 'text/markdown', text: '# Roses\n\nRed ones.' },
        { name: 'red.png', contentType: 'image/png', base64: PIXEL },
        { name: 'plan.pdf', contentType: 'application/pdf', base64: btoa('%PDF-1.7') },
      ];
      const once = { ...inGarden, files, idempotencyKey: 'files' };
      const { message } = await call(client, 'post_message', once);
      assert.equal((await call(client, 'post_message', once)).message.id, message.id);
      const [text, picture, pdf] = message.parts.filter(({ type }) => type === 'file');
      assert.deepEqual([text.name, picture.name, pdf.name], ['roses.md', 'red.png', 'plan.pdf']);
      const read = (part, more) => ({ ...inGarden, attachmentId: part.attachmentId, ...more });
      const page = await call(client, 'read_file', read(text));
      assert.deepEqual([page.text, page.nextOffset], ['# Roses\n\nRed ones.', null]);
      const rest = await call(client, 'read_file', read(text, { offset: 9 }));
      assert.equal(rest.text, 'Red ones.');
      const end = await call(client, 'read_file', read(text, { offset: 18 }));
      assert.deepEqual([end.text, end.nextOffset], ['', null]);
      const beyond = await refusal(client, 'read_file', read(text, { offset: 19 }));
      assert.match(beyond.detail, /the file has 18 bytes/);
      const seen = await client.callTool({ name: 'read_file', arguments: read(picture) });
      const [, image] = seen.content;
      assert.deepEqual([image.type, image.mimeType, image.data], ['image', 'image/png', PIXEL]);
      assert.equal(seen.structuredContent.file.width, 1);
      const { file } = await call(client, 'read_file', read(pdf));
      assert.equal(await (await fetch(file.url)).text(), '%PDF-1.7');
      const again = { ...inGarden, attachments: [picture.attachmentId] };
      const forwarded = await call(client, 'post_message', again);
      assert.equal(fileOf(forwarded.message).attachmentId, picture.attachmentId);
    });

    await t.test('reads a long text in pages', async () => {
      const text = 'Rosenstöcke 🌹 '.repeat(5_000);
      const files = [{ name: 'long.txt', contentType: 'text/plain', text }];
      const { message } = await call(client, 'post_message', { ...inGarden, files });
      const { attachmentId } = fileOf(message);
      const pages = [];
      for (let offset = 0; offset !== null;) {
        const page = await call(client, 'read_file', { ...inGarden, attachmentId, offset });
        pages.push(page.text);
        offset = page.nextOffset;
      }
      assert.equal(pages.join(''), text);
      assert.equal(pages.length, Math.ceil(Buffer.byteLength(text) / (24 * 1024)));
    });

    await t.test('gets the reason for a refused file, and nothing is posted', async () => {
      const before = await api.messages(garden);
      const file = { name: 'a.txt', contentType: 'text/plain', text: 'a' };
      for (const [files, detail] of [
        [[{ ...file, base64: 'YQ==' }], /files\/0: expected either text or base64/],
        [
          [file, { ...file, contentType: 'text/html' }],
          /files\/1: its media type: expected one of/,
        ],
        [[{ ...file, name: 'a/b' }], /its name: expected a name without/],
        [[{ ...file, contentType: 'image/png' }], /first bytes are not those of image\/png/],
        [[{ ...file, text: '' }], /expected 1 to 20971520 bytes, got 0/],
        [Array(11).fill(file), /expected at most 10 files, got 11/],
      ]) {
        const refused = await refusal(client, 'post_message', { ...inGarden, files });
        assert.equal(refused.status, 422);
        assert.match(refused.detail, detail);
      }
      assert.deepEqual(await api.messages(garden), before);
    });

    await t.test('reads a space as a resource', async () => {
      const uri = `smartspace://spaces/${garden.id}`;
      const { resources } = await client.listResources();
      assert.deepEqual(
        resources.map((resource) => [resource.uri, resource.name]),
        [[uri, 'Garden']],
      );
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.equal(resourceTemplates[0].uriTemplate, 'smartspace://spaces/{spaceId}');
      const [{ text }] = (await client.readResource({ uri })).contents;
      const { space, messages } = JSON.parse(text);
      assert.deepEqual([space.id, space.name], [garden.id, 'Garden']);
      assert.deepEqual(messages, await api.messages(garden));
      await assert.rejects(
        client.readResource({ uri: 'smartspace://spaces/nonsense' }),
        /resource/,
      );
    });

    await t.test('knows nothing of the spaces of strangers', async () => {
      const there = { spaceId: secret.id };
      const sarahs = await connected(t, sdk, product.base, tokenOf(sarah, product.jwtSecret));
      const files = [{ name: 'plan.txt', contentType: 'text/plain', text: 'Nobody knows.' }];
      const hidden = await call(sarahs, 'post_message', { ...there, files, waitSeconds: 20 });
      const file = fileOf(hidden.message).attachmentId;
      const before = await api.messages(secret);
      const calls = {
        read_messages: there,
        read_file: { ...there, attachmentId: file },
        post_message: { ...there, text: 'Hello?', waitSeconds: 5 },
        wait_for_messages: { ...there, afterSeq: 0, timeoutSeconds: 5 },
      };
      for (const [tool, input] of Object.entries(calls))
        assert.equal((await refusal(client, tool, input)).status, 404, tool);
      const uri = `smartspace://spaces/${secret.id}`;
      await assert.rejects(client.readResource({ uri }), /no such resource/);
      assert.deepEqual(await api.messages(secret), before);
      // The file is no more in another space than it is there.
      const here = { ...inGarden, attachmentId: file };
      assert.equal((await refusal(client, 'read_file', here)).status, 404);
      const forwarded = { ...inGarden, attachments: [file] };
      assert.equal((await refusal(client, 'post_message', forwarded)).status, 422);
    });

    await t.test('gets the reason for a refused input', async () => {
      assert.equal((await refusal(client, 'post_message', { ...inGarden, text: '' })).status, 422);
    });
  });
}

test('the address of a file is one at which the client reaches the product', async (t) => {
  const { product, space, bearer } = await scene(t);
  const base = product.base.replace('127.0.0.1', 'localhost');
  const client = await connected(t, sdk2026, base, bearer.authorization.replace('Bearer ', ''));
  const files = [{ name: 'a.csv', contentType: 'text/csv', text: 'a,b' }];
  const { message } = await call(client, 'post_message', { spaceId: space.id, files });
  const { attachmentId } = fileOf(message);
  const { file } = await call(client, 'read_file', { spaceId: space.id, attachmentId });
  assert.ok(file.url.startsWith(`${base}/files/`), file.url);
  assert.equal(await (await fetch(file.url)).text(), 'a,b');
});

test('a request that would overflow the stack or fill the memory is refused', async (t) => {
  const { space, product, bearer, send, call } = await scene(t);
  const raw = async (body) => {
    const headers = {
      ...bearer,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const answer = await fetch(`${product.base}/v1/mcp`, { method: 'POST', headers, body });
    return [answer.status, (await answer.json()).detail];
  };
  // serde_json parses the text of a name that it reserves as JSON in turn, at a depth of its own.
  let deep = '';
  for (let level = 0; level < 11; level += 1)
    deep = `${'['.repeat(115)}${JSON.stringify({ [RAW]: deep || '1' })}${']'.repeat(115)}`;
  const asked = (output) =>
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' +
    `{"name":"answer_form","arguments":{"output":${output}}}}`;
  const [status, detail] = await raw(asked(deep));
  assert.equal(status, 400);
  assert.match(detail, /^the body: expected JSON, but/);
  assert.equal((await raw(asked(`[${'1,'.repeat(100_000)}1]`)))[0], 413);
  assert.equal((await raw('{"jsonrpc":'))[0], 400);
  const nested = `${'data:text/plain;base64,'.repeat(20_000)}YQ==`;
  const files = [{ name: 'a.txt', contentType: 'text/plain', base64: nested }];
  const refused = await call('post_message', { spaceId: space.id, files });
  assert.match(refused.structuredContent.detail, /expected base64/);
  const long = await call('list_spaces', { cursor: '!'.repeat(1_000_000) });
  assert.equal(long.structuredContent.status, 400);
  const misfit = await call('post_message', { spaceId: space.id, files: [{ name: 'a' }] });
  assert.match(misfit.content[0].text, /files\[0\]: missing field/);
  assert.equal((await send('tools/list', {}, bearer)).status, 200);
});

test('a file that is sent again is the same file', async (t) => {
  const { api, space, call } = await scene(t);
  const files = [{ name: 'a.txt', contentType: 'text/plain', text: 'a' }];
  const unknown = 'att_01K00000000000000000000000';
  const refused = await call('post_message', { spaceId: space.id, files, attachments: [unknown] });
  assert.equal(refused.structuredContent.status, 422);
  const post = () => call('post_message', { spaceId: space.id, files: [...files, ...files] });
  const ids = async () =>
    (await post()).structuredContent.message.parts.map(({ attachmentId }) => attachmentId);
  const first = await ids();
  assert.equal(new Set(first).size, 2, 'a message has each file once');
  assert.deepEqual(await ids(), first);
  const named = { spaceId: space.id, files, attachments: [first[0]] };
  const { message } = (await call('post_message', named)).structuredContent;
  assert.deepEqual(
    message.parts.map(({ attachmentId }) => attachmentId),
    [first[0]],
  );
  assert.equal((await api.messages(space)).length, 3);
  const long = { spaceId: space.id, text: 'a'.repeat(1_000_000) };
  assert.equal((await call('post_message', long)).structuredContent.status, 422);
});

test('a request that still arrives is an open call', async (t) => {
  const { api, product, bearer, send } = await scene(t);
  const { hostname, port } = new URL(product.base);
  const stalled = new Set();
  const stall = () => {
    const socket = connect(Number(port), hostname);
    stalled.add(socket);
    socket.on('error', () => {});
    // Refused, because the question whether all are open was open, too.
    socket.on('data', () => {
      socket.destroy();
      if (stalled.delete(socket)) stall();
    });
    const { authorization } = bearer;
    socket.write(
      `POST /v1/mcp HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${authorization}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    );
  };
  for (let number = 0; number < 16; number += 1) stall();
  const refusal = async () => {
    const response = await send('tools/list', {}, bearer);
    return (await response.json()).error?.data;
  };
  await api.waitFor(async () => (await refusal())?.retryAfter === 5);
  for (const socket of stalled) {
    stalled.delete(socket);
    socket.destroy();
  }
  await api.waitFor(async () => (await refusal()) === undefined);
});

test('an agent that posts over MCP stays in its chain', async (t) => {
  const { space, call } = await scene(t);
  const input = { spaceId: space.id, text: 'Hello' };
  const headers = { 'smartspace-chain-depth': '5' };
  const { structuredContent } = await call('post_message', input, { headers });
  assert.equal(structuredContent.message.chainDepth, 5);
});

test('only the token of an entity is accepted', async (t) => {
  const { product, bearer, send } = await scene(t, '--cors-origin', 'https://chat.example.com');
  const status = async (headers) => {
    const response = await send('tools/list', {}, headers);
    const answer = await response.json();
    if (!response.ok) assert.equal(answer.status, response.status);
    return response.status;
  };
  const token = bearer.authorization.replace('Bearer ', '');
  const sent = (authorization) => status({ authorization });
  assert.equal(await status(bearer), 200);
  assert.equal(await sent(`bearer  ${token} `), 200);
  assert.equal(await status({}), 401);
  for (const wrong of ['Bearer nonsense', `Basic ${token}`, 'Bearer ', token])
    assert.equal(await sent(wrong), 401, wrong);
  assert.equal(await sent(`Bearer ${product.adminKey}`), 403);
  assert.equal(await status({ ...bearer, origin: 'https://evil.example.com' }), 403);
  assert.equal(await status({ ...bearer, origin: 'https://chat.example.com' }), 200);
  assert.equal(await status({ ...bearer, origin: product.base }), 200);
});
