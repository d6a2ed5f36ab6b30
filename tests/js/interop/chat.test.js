// The AI SDK's `Chat`, unmodified, of @ai-sdk/react 4 (ai 7) and 3 (ai 6).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Chat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import * as ai6 from 'ai-6';
import { Chat as Chat3 } from 'ai-sdk-react-3';
import { tokenOf } from '../api_client.js';
import {
  OPENING,
  WEATHER,
  asksFirst,
  decide,
  newestCard,
  startGarden,
  withoutWarnings,
} from './garden.js';

const CLIENTS = {
  'the client of ai 7': {
    Chat,
    DefaultChatTransport,
    lastAssistantMessageIsCompleteWithApprovalResponses,
    lastAssistantMessageIsCompleteWithToolCalls,
  },
  'the client of ai 6': { ...ai6, Chat: Chat3 },
};
// Long enough for what a test does while an answer is written, also on a slow machine.
const WORD_MS = 500;

/** A chat with the space. `fetch` may cut what it gets. */
function chatOf(sdk, { product, bearer }, space, { fetch, ...more } = {}) {
  const transport = new sdk.DefaultChatTransport({
    api: `${product.base}/v1/chat`,
    headers: bearer,
    fetch,
  });
  const errors = [];
  const onError = (error) => errors.push(error);
  return Object.assign(new sdk.Chat({ id: space.id, transport, onError, ...more }), { errors });
}

const partsOf = (chat) => chat.messages.flatMap(({ parts }) => parts);

/** The texts of agents' messages that the chat shows. */
const answers = (chat) =>
  chat.messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ parts }) => parts)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text);

const data = (chat, type) =>
  partsOf(chat)
    .filter((part) => part.type === type)
    .map((part) => part.data);

/** The texts of the agents' messages in the space. */
const posted = async (api, space) =>
  (await api.messages(space))
    .filter(({ sender, parts }) => sender.type === 'agent' && parts[0].type === 'text')
    .map(({ parts }) => parts[0].text);

const tool = (chat) => partsOf(chat).find(({ type }) => type === 'dynamic-tool');

for (const [name, sdk] of Object.entries(CLIENTS)) {
  test(`${name}: two agents answer at once, and a person speaks in between`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t, WORD_MS);
    const { api, sarah, garden } = scene;
    let isPosted = false;
    const chat = chatOf(sdk, scene, garden, {
      onData: () => {
        if (!isPosted) void api.postMessage(garden, sarah, 'I am here, too.');
        isPosted = true;
      },
    });
    await chat.sendMessage({ text: '@all Good morning!' });
    assert.deepEqual([chat.status, chat.errors], ['ready', []]);
    assert.equal(chat.messages.length, 2);
    const [first] = await api.messages(garden);
    assert.equal(chat.messages[1].id, `rsp_${first.id}`);
    assert.deepEqual(answers(chat).sort(), [WEATHER, OPENING]);
    assert.deepEqual(answers(chat).sort(), (await posted(api, garden)).sort());
    const runs = data(chat, 'data-run').map(({ agent, status }) => [agent, status]);
    assert.deepEqual(runs.sort(), [
      ['Guide', 'completed'],
      ['Weather', 'completed'],
    ]);
    const about = data(chat, 'data-message');
    const spoken = about.find(({ sender }) => sender.name === 'Sarah');
    assert.equal(spoken.text, 'I am here, too.');
    const seqs = about.map(({ seq }) => seq);
    assert.deepEqual(seqs.sort(), [2, 3, 4]);
  });

  test(`${name}: goes on, and posts nothing twice`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t);
    const { api, garden } = scene;
    const chat = chatOf(sdk, scene, garden);
    await chat.sendMessage({ text: '@Guide When does it open?' });
    const [question] = chat.messages;
    await chat.sendMessage({ text: '@Weather And how is it?' });
    assert.deepEqual(chat.errors, []);
    assert.deepEqual(answers(chat), [OPENING, WEATHER]);
    assert.equal((await api.messages(garden)).length, 4);
    // A client that lost the answer to its request sends it again.
    const again = chatOf(sdk, scene, garden);
    await again.sendMessage(question);
    assert.deepEqual([again.errors, answers(again)], [[], [OPENING]]);
    assert.equal((await api.messages(garden)).length, 4);
  });

  test(`${name}: answers a form by an output`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t);
    const { api, garden } = scene;
    let requests = 0;
    const counted = (...request) => fetch(...request).finally(() => requests++);
    const sendAutomaticallyWhen = sdk.lastAssistantMessageIsCompleteWithToolCalls;
    const chat = chatOf(sdk, scene, garden, { sendAutomaticallyWhen, fetch: counted });
    await chat.sendMessage({ text: '@Guide Please order roses.' });
    const form = tool(chat);
    assert.deepEqual([form.toolName, form.state], ['approve', 'approval-requested']);
    assert.deepEqual(form.input.options, ['Approve', 'Reject']);
    assert.deepEqual(data(chat, 'data-run')[0].status, 'waiting_tool');
    const output = { choice: 'Approve', comment: 'Red ones' };
    await chat.addToolOutput({ tool: 'approve', toolCallId: form.toolCallId, output });
    await api.waitFor(() => answers(chat).length > 0 && chat.status === 'ready');
    assert.deepEqual(chat.errors, []);
    assert.equal(requests, 2);
    assert.deepEqual(tool(chat).output, output);
    assert.deepEqual(answers(chat), ['You chose: Approve']);
    assert.deepEqual(answers(chat), await posted(api, garden));
    assert.equal(chat.messages.length, 2);
  });

  for (const [approved, choice] of [
    [true, 'Approve'],
    [false, 'Reject'],
  ])
    test(`${name}: answers a form by an approval: ${choice}`, async (t) => {
      withoutWarnings(t);
      const scene = await startGarden(t);
      const { api, garden } = scene;
      const sendAutomaticallyWhen = sdk.lastAssistantMessageIsCompleteWithApprovalResponses;
      const chat = chatOf(sdk, scene, garden, { sendAutomaticallyWhen });
      await chat.sendMessage({ text: '@Guide Please order roses.' });
      const { approval } = tool(chat);
      await chat.addToolApprovalResponse({ id: approval.id, approved });
      await api.waitFor(() => answers(chat).length > 0 && chat.status === 'ready');
      assert.deepEqual(chat.errors, []);
      assert.equal(tool(chat).output.choice, choice);
      assert.deepEqual(answers(chat), [`You chose: ${choice}`]);
    });

  for (const [response, output] of [
    [{ approved: true }, { saved: ['flowers'] }],
    [
      { approved: false, reason: 'Not now' },
      { declined: true, reason: 'Not now' },
    ],
  ])
    test(`${name}: decides a call: ${response.approved}`, async (t) => {
      withoutWarnings(t);
      const scene = await startGarden(t);
      const { api, garden } = scene;
      await asksFirst(scene);
      const sendAutomaticallyWhen = sdk.lastAssistantMessageIsCompleteWithApprovalResponses;
      const chat = chatOf(sdk, scene, garden, { sendAutomaticallyWhen });
      await chat.sendMessage({ text: '@Guide Please note the lilies.' });
      const { approval, state, toolName } = tool(chat);
      assert.deepEqual([toolName, state], ['set_memories', 'approval-requested']);
      await chat.addToolApprovalResponse({ id: approval.id, ...response });
      await api.waitFor(() => answers(chat).length > 0 && chat.status === 'ready');
      assert.deepEqual(chat.errors, []);
      assert.deepEqual(tool(chat).output, output);
      assert.deepEqual(answers(chat), ['Noted.']);
    });

  test(`${name}: loses its stream and resumes`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t, WORD_MS);
    const { api, garden } = scene;
    const cutting = async (url, init) => {
      const response = await fetch(url, init);
      return init.method === 'POST' ? cut(response) : response;
    };
    const chat = chatOf(sdk, scene, garden, { fetch: cutting });
    await chat.sendMessage({ text: '@Guide When does it open?' });
    assert.equal(chat.errors.length, 1);
    const [part] = answers(chat);
    assert.ok(part.length < OPENING.length && OPENING.startsWith(part), part);
    await chat.resumeStream();
    assert.equal(chat.status, 'ready');
    assert.deepEqual(answers(chat), [OPENING]);
    assert.deepEqual(answers(chat), await posted(api, garden));
    assert.equal(chat.messages.length, 2);
    // A page that was loaded again has only its own message.
    const loaded = chatOf(sdk, scene, garden, { messages: chat.messages.slice(0, 1) });
    await loaded.resumeStream();
    assert.deepEqual([loaded.status, loaded.messages.length], ['ready', 1]);
  });

  test(`${name}: an answer in a space cannot be regenerated`, async (t) => {
    const scene = await startGarden(t);
    const chat = chatOf(sdk, scene, scene.garden);
    await chat.sendMessage({ text: '@Guide When does it open?' });
    await chat.regenerate();
    assert.match(chat.errors[0].message, /regenerate/);
  });
}

test('messages from before the answer arrive with it', async (t) => {
  const scene = await startGarden(t);
  const { api, sarah, garden } = scene;
  const sdk = CLIENTS['the client of ai 7'];
  let isLost = false;
  // The answer reaches the space, and its response does not reach the page.
  const losing = async (...request) => {
    const response = await fetch(...request);
    if (!isLost) return response;
    await response.text();
    throw new TypeError('network error');
  };
  const chat = chatOf(sdk, scene, garden, { fetch: losing });
  await chat.sendMessage({ text: '@Guide Please order roses.' });
  const { toolCallId } = tool(chat);
  await chat.addToolOutput({ tool: 'approve', toolCallId, output: { choice: 'Approve' } });
  isLost = true;
  await chat.sendMessage();
  assert.equal(chat.errors.length, 1);
  isLost = false;
  await chat.sendMessage();
  assert.deepEqual(answers(chat), ['You chose: Approve']);

  // Another person is faster.
  const late = chatOf(sdk, scene, garden);
  await late.sendMessage({ text: '@Guide Please order more roses.' });
  const asks = tool(late);
  const { runId } = asks.toolMetadata.smartspace;
  await api.answer(sarah, runId, asks.toolCallId, { output: { choice: 'Reject' } });
  await api.waitForRun(runId);
  const output = { choice: 'Approve' };
  await late.addToolOutput({ tool: 'approve', toolCallId: asks.toolCallId, output });
  await late.sendMessage();
  assert.deepEqual(late.errors, []);
  assert.deepEqual(answers(late), ['You chose: Reject']);
  assert.deepEqual(tool(late).output, { choice: 'Reject' });
});

test('a refused answer does not hold up what is said next', async (t) => {
  const scene = await startGarden(t);
  const { api, garden } = scene;
  const chat = chatOf(CLIENTS['the client of ai 7'], scene, garden);
  await chat.sendMessage({ text: '@Guide Please order roses.' });
  const { toolCallId } = tool(chat);
  await chat.addToolOutput({ tool: 'approve', toolCallId, output: { choice: 'Perhaps' } });
  await chat.sendMessage();
  assert.match(chat.errors[0].message, /choice/);
  await chat.sendMessage({ text: '@Weather How is it?' });
  assert.deepEqual(answers(chat), [WEATHER]);
  assert.equal((await api.messages(garden)).length, 4);
});

test('an approval that is sent again does not count for an input from after it', async (t) => {
  const scene = await startGarden(t);
  await asksFirst(scene, { quorum: 2 });
  const chat = chatOf(CLIENTS['the client of ai 7'], scene, scene.garden);
  await chat.sendMessage({ text: '@Guide Please note the lilies.' });
  await chat.addToolApprovalResponse({ id: tool(chat).approval.id, approved: true });
  await chat.sendMessage();
  assert.deepEqual(chat.errors, []);
  const { decisions } = (await newestCard(scene)).card.approval;
  assert.deepEqual([decisions.length, decisions[0].by], [1, scene.husam.id]);
  const input = { memories: [{ key: 'flowers', value: 'nettles' }] };
  await decide(scene, scene.sarah, { action: 'edit', input });
  await chat.sendMessage({ text: '@Weather How is it?' });
  assert.deepEqual(answers(chat), [WEATHER]);
  const { card } = await newestCard(scene);
  assert.deepEqual([card.status, card.input], ['pending', input]);
  assert.deepEqual(
    card.approval.decisions.map(({ by, action }) => [by, action]),
    [[scene.sarah.id, 'edit']],
  );
});

test('a page resumes its own turn first, and one whose run was repeated', async (t) => {
  const scene = await startGarden(t, WORD_MS);
  const { api, husam, sarah, garden } = scene;
  const sdk = CLIENTS['the client of ai 7'];
  const cutting = async (url, init) => {
    const response = await fetch(url, init);
    return init.method === 'POST' ? cut(response) : response;
  };
  const chat = chatOf(sdk, scene, garden, { fetch: cutting });
  await chat.sendMessage({ text: '@Guide When does it open?' });
  await api.postMessage(garden, sarah, '@Weather How is it?');
  await chat.resumeStream();
  assert.equal(chat.messages.length, 2);
  assert.ok(answers(chat).includes(OPENING));

  await chat.sendMessage({ text: '@Guide And tomorrow?' });
  const [{ id }] = (await api.runs(garden)).filter(({ status }) => status === 'running');
  const { base, jwtSecret } = scene.product;
  const authorization = `Bearer ${tokenOf(husam, jwtSecret)}`;
  for (const action of ['cancel', 'retry']) {
    const headers = { authorization };
    const response = await fetch(`${base}/v1/runs/${id}/${action}`, { method: 'POST', headers });
    assert.equal(response.status, 202);
  }
  await chat.resumeStream();
  assert.equal(answers(chat).at(-1), OPENING);
});

/** The response, which breaks after the second piece of text. */
function cut(response) {
  let pieces = 0;
  const reader = response.body.getReader();
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      controller.enqueue(value);
      pieces += new TextDecoder().decode(value).split('"text-delta"').length - 1;
      if (pieces >= 2) {
        await reader.cancel();
        controller.error(new TypeError('network error'));
      }
    },
  });
  return new Response(body, response);
}

test('a chat with nothing to resume has no content, and strangers have none at all', async (t) => {
  const { product, garden, secret, bearer } = await startGarden(t);
  const resume = ({ id }, headers = bearer) =>
    fetch(`${product.base}/v1/chat/${id}/stream`, { headers });
  assert.equal((await resume(garden)).status, 204);
  assert.equal((await resume(secret)).status, 404);
  assert.equal((await resume({ id: 'nonsense' })).status, 404);
  assert.equal((await resume(garden, {})).status, 401);
  const admin = { authorization: `Bearer ${product.adminKey}` };
  assert.equal((await resume(garden, admin)).status, 403);
});
