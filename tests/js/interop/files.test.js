// Files through other protocols, with unmodified clients: a client sends a picture inside its
// request, and gets the pictures that an agent draws.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { HttpAgent } from '@ag-ui/client';
import { HttpAgent as HttpAgent0 } from 'ag-ui-client-0';
import { Role, TaskState } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import * as ai6 from 'ai-6';
import { Chat as Chat3 } from 'ai-sdk-react-3';
import { startGarden, withoutWarnings } from './garden.js';

// A PNG with one red pixel.
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const DRAWN = 'There it is.';

/** A garden with a Painter, who draws and then speaks. */
async function scene(t) {
  withoutWarnings(t);
  const garden = await startGarden(t);
  const { api, husam } = garden;
  const rules = [
    {
      steps: [
        { calls: [{ tool: 'draw', input: { prompt: 'A rose' } }] },
        { calls: [{ tool: 'send_message', input: { text: DRAWN } }] },
      ],
    },
  ];
  const draw = {
    name: 'draw',
    description: 'Draws a picture.',
    execution: { type: 'image', provider: 'scripted', size: '96x64' },
  };
  const painter = await api.createAgent('Painter', rules, 0, [draw]);
  await api.change(painter.id, { agent: { open: true } });
  const studio = await api.createSpace('Studio', [husam, painter]);
  return { ...garden, painter, studio };
}

/** Checks that the space has the picture of the client, and the one that was drawn. */
async function check(api, studio, text, name) {
  const messages = await api.messages(studio);
  const [sent, card, answer] = messages;
  const [file] = sent.parts.filter(({ type }) => type === 'file');
  assert.equal(sent.parts[0].text, text);
  assert.deepEqual([file.name, file.contentType, file.width], [name, 'image/png', 1]);
  assert.deepEqual([card.parts[1].name, card.parts[1].width], ['A rose.png', 96]);
  assert.equal(answer.parts[0].text, DRAWN);
  assert.equal(messages.length, 3);
}

/** Checks that the address of a drawn picture works, without a credential. */
async function isDrawn(url) {
  const answer = await fetch(url);
  assert.equal(answer.status, 200);
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.equal(bytes.readUInt32BE(16), 96);
}

for (const [name, sdk] of Object.entries({
  'the client of ai 7': { Chat, DefaultChatTransport },
  'the client of ai 6': { ...ai6, Chat: Chat3 },
}))
  test(`${name} sends a picture and shows a drawn one`, async (t) => {
    const { product, api, bearer, studio } = await scene(t);
    const transport = new sdk.DefaultChatTransport({
      api: `${product.base}/v1/chat`,
      headers: bearer,
    });
    const errors = [];
    const chat = new sdk.Chat({
      id: studio.id,
      transport,
      onError: (error) => errors.push(error),
    });
    const url = `data:image/png;base64,${PIXEL}`;
    const files = [{ type: 'file', mediaType: 'image/png', filename: 'red.png', url }];
    await chat.sendMessage({ text: 'Like this', files });
    assert.deepEqual(errors, []);
    await check(api, studio, 'Like this', 'red.png');
    const parts = chat.messages.at(-1).parts;
    const shown = parts.filter(({ type }) => type === 'file');
    assert.equal(shown.length, 1);
    assert.equal(shown[0].mediaType, 'image/png');
    await isDrawn(shown[0].url);
    // The same request again posts nothing twice.
    const again = new sdk.Chat({
      id: studio.id,
      transport,
      onError: (error) => errors.push(error),
    });
    await again.sendMessage(chat.messages[0]);
    assert.deepEqual(errors, []);
    assert.equal((await api.messages(studio)).length, 3);
  });

test('a message that is sent several times at once is posted once', async (t) => {
  const { product, api, bearer, studio } = await scene(t);
  const url = `data:image/png;base64,${PIXEL}`;
  const send = async (text, files) => {
    const parts = [{ type: 'text', text }, ...files];
    const body = { id: studio.id, messages: [{ id: 'm', role: 'user', parts }] };
    const headers = { ...bearer, 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${product.base}/v1/chat`, sent);
    await answer.text();
    return answer.status;
  };
  const file = { type: 'file', mediaType: 'image/png', filename: 'red.png', url };
  const twice = [file, { ...file, filename: 'other.png' }];
  const same = () => send('Like these', twice);
  assert.deepEqual(await Promise.all([same(), same(), same()]), [200, 200, 200]);
  const [sent, card, answer, ...more] = await api.messages(studio);
  assert.deepEqual(more, []);
  assert.equal(sent.parts.length, 3);
  assert.deepEqual([card.parts[0].name, answer.parts[0].text], ['draw', DRAWN]);
  // The same id with other files is another message.
  assert.equal(await send('Like these', [file]), 422);
  assert.equal(await send('Like these', [file, file]), 422);
  const bytes = Buffer.from(PIXEL, 'base64');
  bytes[bytes.length - 1] ^= 1;
  const sameSize = `data:image/png;base64,${bytes.toString('base64')}`;
  assert.equal(await send('Like these', [{ ...file, url: sameSize }, twice[1]]), 422);
  assert.equal((await api.messages(studio)).length, 3);
});

test('a file that is not in the request is refused with what was expected', async (t) => {
  const { product, api, bearer, studio } = await scene(t);
  const send = async (part) => {
    const body = {
      id: studio.id,
      messages: [{ id: 'm', role: 'user', parts: [part] }],
    };
    const headers = { ...bearer, 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${product.base}/v1/chat`, sent);
    return [answer.status, (await answer.json()).detail];
  };
  const file = { type: 'file', mediaType: 'image/png' };
  const [status, detail] = await send({
    ...file,
    url: 'https://example.com/a.png',
  });
  assert.equal(status, 422);
  assert.match(detail, /m: a file: expected the file itself, as data:image\/png;base64,…/);
  const svg = Buffer.from('<svg/>').toString('base64');
  const [other, why] = await send({
    ...file,
    url: `data:image/svg+xml;base64,${svg}`,
  });
  assert.equal(other, 422);
  assert.match(why, /m: a file: its media type: expected one of image\/png, /);
  const [wrong, about] = await send({
    ...file,
    url: `data:image/png;base64,${svg}`,
  });
  assert.equal(wrong, 422);
  assert.match(about, /m: a file: the file's first bytes are not those of image\/png/);
  const many = { id: studio.id, messages: [{ id: 'n', role: 'user', parts: [] }] };
  many.messages[0].parts = Array.from({ length: 11 }, () => ({
    ...file,
    url: `data:image/png;base64,${PIXEL}`,
  }));
  const headers = { ...bearer, 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify(many) };
  const tooMany = await fetch(`${product.base}/v1/chat`, sent);
  assert.equal(tooMany.status, 422);
  assert.match((await tooMany.json()).detail, /n: expected at most 10 files/);
  assert.deepEqual(await api.messages(studio), []);
});

for (const [name, Client, part] of [
  [
    'the AG-UI client of 1.0.0',
    HttpAgent,
    {
      type: 'image',
      source: { type: 'data', value: PIXEL, mimeType: 'image/png' },
    },
  ],
  [
    'the AG-UI client of 0.0.59',
    HttpAgent0,
    {
      type: 'binary',
      mimeType: 'image/png',
      data: PIXEL,
      filename: 'image.png',
    },
  ],
])
  test(`${name} sends a picture and gets a drawn one`, async (t) => {
    const { product, api, bearer, studio } = await scene(t);
    const client = new Client({
      url: `${product.base}/v1/agui`,
      headers: bearer,
      threadId: studio.id,
    });
    client.addMessage({
      id: 'local-1',
      role: 'user',
      content: [{ type: 'text', text: 'Like this' }, part],
    });
    const received = [];
    await client.runAgent(
      {},
      {
        onCustomEvent: ({ event }) => void received.push(event),
      },
    );
    await check(api, studio, 'Like this', 'image.png');
    const [{ name: event, value }, ...others] = received;
    assert.deepEqual([event, others], ['smartspace.files', []]);
    const [card] = (await api.messages(studio)).slice(1);
    assert.equal(value.messageId, card.streamId ?? card.id);
    assert.equal(value.toolCallId, card.parts[0].callId);
    assert.equal(value.files[0].name, 'A rose.png');
    await isDrawn(value.files[0].url);
  });

test('the A2A client sends a picture and gets a drawn one', async (t) => {
  const { product, api, bearer, painter, studio } = await scene(t);
  const fetchImpl = (url, init = {}) =>
    fetch(url, { ...init, headers: { ...init.headers, ...bearer } });
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  );
  const client = await factory.createFromUrl(
    `${product.base}/v1/agents/${painter.id}/`,
    '.well-known/agent-card.json',
  );
  const part = ($case, value, mediaType = '', filename = '') => ({
    content: { $case, value },
    metadata: undefined,
    filename,
    mediaType,
  });
  const picture = part('raw', Buffer.from(PIXEL, 'base64'), 'image/png', 'red.png');
  const message = {
    messageId: 'message-1',
    contextId: studio.id,
    taskId: '',
    role: Role.ROLE_USER,
    parts: [part('text', 'Like this'), picture],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  const request = {
    message,
    tenant: '',
    configuration: undefined,
    metadata: undefined,
  };
  const task = await client.sendMessage(request);
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  await check(api, studio, 'Like this', 'red.png');
  const parts = task.artifacts.flatMap((artifact) => artifact.parts);
  const [drawn, text] = parts;
  assert.deepEqual(
    [drawn.content.$case, drawn.mediaType, drawn.filename],
    ['url', 'image/png', 'A rose.png'],
  );
  assert.equal(text.content.value, DRAWN);
  await isDrawn(drawn.content.value);
  // A stream contains the same files.
  const received = [];
  const next = {
    ...request,
    message: {
      ...message,
      messageId: 'message-2',
      parts: [part('text', 'Again')],
    },
  };
  for await (const event of client.sendMessageStream(next)) received.push(event);
  const updates = received.filter(({ payload }) => payload?.$case === 'artifactUpdate');
  const shown = updates.flatMap(({ payload }) => payload.value.artifact.parts);
  const link = shown.find(({ content }) => content?.$case === 'url');
  assert.equal(link?.filename, 'A rose.png', JSON.stringify(received));
});
