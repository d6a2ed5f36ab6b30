// AG-UI clients of both generations, unmodified: `HttpAgent` of 1.0.0 and of 0.0.59.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpAgent } from '@ag-ui/client';
import { HttpAgent as HttpAgent0 } from 'ag-ui-client-0';
import { tokenOf } from '../api_client.js';
import {
  NOTE,
  OPENING,
  WEATHER,
  asksFirst,
  newestCard,
  startGarden,
  withoutWarnings,
} from './garden.js';

const CLIENTS = { 'the client of 1.0.0': HttpAgent, 'the client of 0.0.59': HttpAgent0 };
// Long enough for what a test does while an answer is written, also on a slow machine.
const WORD_MS = 500;

/** A client whose thread is the space. */
function agentOf(Client, { product, bearer }, space) {
  return new Client({
    url: `${product.base}/v1/agui`,
    headers: bearer,
    threadId: space.id,
  });
}

/** Runs the client, and returns the events. `onEvent` gets each. */
async function run(client, input = {}, onEvent = () => {}) {
  const events = [];
  await client.runAgent(input, {
    onEvent: ({ event }) => {
      events.push(event);
      onEvent(event);
    },
  });
  return events;
}

function say(client, id, content) {
  client.addMessage({ id, role: 'user', content });
}

const typesOf = (events) => events.map(({ type }) => type);
const some = (events, wanted) => events.filter(({ type }) => type === wanted);

/** The space's messages as a client shows them: `[id, role, text]`. */
async function shown(api, space) {
  return (await api.messages(space))
    .filter(({ parts }) => parts[0].type === 'text')
    .map(({ id, streamId, sender, parts }) => [
      streamId ?? id,
      sender.type === 'agent' ? 'assistant' : 'user',
      parts[0].text,
    ]);
}

const textsOf = (client) =>
  client.messages
    .filter(({ role, content }) => role !== 'tool' && content)
    .map(({ id, role, content }) => [id, role, content]);

for (const [name, Client] of Object.entries(CLIENTS)) {
  test(`${name}: two agents answer at once, and a person speaks in between`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t, WORD_MS);
    const { api, sarah, garden } = scene;
    const client = agentOf(Client, scene, garden);
    say(client, 'local-1', '@all Good morning!');
    let isPosted = false;
    const events = await run(client, {}, ({ type }) => {
      if (type !== 'TEXT_MESSAGE_CONTENT' || isPosted) return;
      isPosted = true;
      void api.postMessage(garden, sarah, 'I am here, too.');
    });
    assert.deepEqual(typesOf(events).slice(0, 3), [
      'RUN_STARTED',
      'STATE_SNAPSHOT',
      'MESSAGES_SNAPSHOT',
    ]);
    assert.equal(events.at(-1).type, 'RUN_FINISHED');
    assert.deepEqual(events.at(-1).outcome, { type: 'success' });
    const names = some(events, 'SUBAGENT_STARTED').map((event) => event.name);
    assert.deepEqual(names.sort(), ['Guide', 'Weather']);
    assert.equal(some(events, 'SUBAGENT_FINISHED').length, 2);
    assert.equal(client.state.space.name, 'Garden');
    assert.deepEqual(client.state.members.map((member) => member.name).sort(), [
      'Guide',
      'Husam',
      'Sarah',
      'Weather',
    ]);
    // Both wrote at the same time, and each in pieces.
    const written = some(events, 'TEXT_MESSAGE_CONTENT').map((event) => event.messageId);
    const first = written[0];
    assert.ok(written.lastIndexOf(first) > written.findIndex((id) => id !== first), `${written}`);
    const posted = await shown(api, garden);
    assert.deepEqual(posted.map(([, , text]) => text).sort(), [
      '@all Good morning!',
      'I am here, too.',
      WEATHER,
      OPENING,
    ]);
    assert.deepEqual(textsOf(client).sort(), posted.sort());
  });

  test(`${name}: goes on with what it has, and posts nothing twice`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t);
    const { api, garden } = scene;
    const client = agentOf(Client, scene, garden);
    for (const [id, text] of [
      ['local-1', '@Guide When does it open?'],
      ['local-2', '@Weather And how is it?'],
    ]) {
      say(client, id, text);
      await run(client);
    }
    assert.deepEqual(textsOf(client), await shown(api, garden));
    assert.equal(textsOf(client).length, 4);
    // A client that lost the answer to its request sends it again.
    const again = agentOf(Client, scene, garden);
    say(again, 'local-1', '@Guide When does it open?');
    const events = await run(again);
    assert.equal(events.at(-1).type, 'RUN_FINISHED');
    assert.deepEqual(textsOf(again), await shown(api, garden));
    assert.equal(textsOf(again).length, 4);
  });

  test(`${name}: answers a form`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t);
    const { api, garden } = scene;
    const client = agentOf(Client, scene, garden);
    say(client, 'local-1', '@Guide Please order roses.');
    const asked = await run(client);
    const { outcome } = asked.at(-1);
    assert.equal(outcome.type, 'interrupt');
    const [interrupt] = outcome.interrupts;
    assert.deepEqual([outcome.interrupts.length, interrupt.reason], [1, 'tool_call']);
    assert.equal(interrupt.message, 'Order 40 roses?');
    assert.deepEqual(interrupt.responseSchema.required, ['choice']);
    assert.ok(new Date(interrupt.expiresAt) > new Date());
    const [suspended] = some(asked, 'SUBAGENT_FINISHED');
    assert.deepEqual(suspended.outcome, { type: 'suspended', interruptIds: [interrupt.id] });
    const call = client.messages.flatMap(({ toolCalls = [] }) => toolCalls)[0];
    assert.deepEqual([call.id, call.function.name], [interrupt.id, 'approve']);
    assert.deepEqual(JSON.parse(call.function.arguments).options, ['Approve', 'Reject']);

    const interruptId = interrupt.id;
    const left = await run(client, { resume: [{ interruptId, status: 'cancelled' }] });
    assert.deepEqual(left.at(-1).outcome, { type: 'success' });
    assert.equal((await api.messages(garden)).at(-1).parts[0].status, 'pending');

    const payload = { choice: 'Approve' };
    const resumed = await run(client, { resume: [{ interruptId, status: 'resolved', payload }] });
    assert.deepEqual(resumed.at(-1).outcome, { type: 'success' });
    assert.equal(some(resumed, 'SUBAGENT_STARTED').length, 1);
    assert.equal(textsOf(client).at(-1)[2], 'You chose: Approve');
    const result = client.messages.find(({ role }) => role === 'tool');
    assert.deepEqual([result.toolCallId, JSON.parse(result.content)], [interruptId, payload]);
    assert.deepEqual(textsOf(client), await shown(api, garden));
  });

  test(`${name}: declines a form`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t);
    const client = agentOf(Client, scene, scene.garden);
    say(client, 'local-1', '@Guide Please order roses.');
    const [interrupt] = (await run(client)).at(-1).outcome.interrupts;
    const resolved = { interruptId: interrupt.id, status: 'resolved', payload: { declined: true } };
    await run(client, { resume: [resolved] });
    const result = client.messages.find(({ role }) => role === 'tool');
    assert.deepEqual(JSON.parse(result.content), { declined: true });
  });

  test(`${name}: decides a call that waits for approval`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t);
    const { api, sarah, garden, product } = scene;
    await asksFirst(scene, { quorum: 2 });
    const client = agentOf(Client, scene, garden);
    say(client, 'local-1', '@Guide Please note the lilies.');
    const [interrupt] = (await run(client)).at(-1).outcome.interrupts;
    const input = JSON.stringify(NOTE);
    assert.equal(interrupt.message, `set_memories waits for approval. Its input: ${input}`);
    assert.deepEqual(interrupt.responseSchema.required, ['action']);
    const { ui, approval } = interrupt.metadata.smartspace;
    assert.deepEqual([ui, approval.needed, approval.state], ['approval', 2, 'open']);
    const payload = { action: 'approve' };
    const resume = [{ interruptId: interrupt.id, status: 'resolved', payload }];
    const first = await run(client, { resume });
    assert.deepEqual(first.at(-1).outcome, { type: 'success' }, 'a person is asked once');
    const { card } = await newestCard(scene);
    assert.deepEqual([card.status, card.approval.decisions.length], ['pending', 1]);

    const bearer = { authorization: `Bearer ${tokenOf(sarah, product.jwtSecret)}` };
    const other = agentOf(Client, { product, bearer }, garden);
    const [asked] = (await run(other)).at(-1).outcome.interrupts;
    assert.equal(asked.id, interrupt.id);
    const second = await run(other, { resume });
    assert.deepEqual(second.at(-1).outcome, { type: 'success' });
    const result = other.messages.find(({ role }) => role === 'tool');
    assert.deepEqual(JSON.parse(result.content), { saved: ['flowers'] });
    assert.equal(textsOf(other).at(-1)[2], 'Noted.');
    assert.equal((await api.messages(garden)).length, 3);
  });

  test(`${name}: is not asked what only others may decide`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t);
    await asksFirst(scene, { by: [scene.sarah.id] });
    const client = agentOf(Client, scene, scene.garden);
    say(client, 'local-1', '@Guide Please note the lilies.');
    assert.deepEqual((await run(client)).at(-1).outcome, { type: 'success' });
    const { card } = await newestCard(scene);
    assert.deepEqual([card.status, card.ui], ['pending', 'approval']);
  });

  test(`${name}: is cut and follows what is still written`, async (t) => {
    withoutWarnings(t);
    const scene = await startGarden(t, WORD_MS);
    const { api, garden } = scene;
    const client = agentOf(Client, scene, garden);
    say(client, 'local-1', '@Guide When does it open?');
    let pieces = 0;
    await run(client, {}, ({ type }) => {
      if (type === 'TEXT_MESSAGE_CONTENT' && ++pieces === 2) client.abortRun();
    });
    const cut = textsOf(client).at(-1)[2];
    assert.ok(cut.length < OPENING.length && OPENING.startsWith(cut), cut);
    const events = await run(client);
    assert.equal(events.at(-1).type, 'RUN_FINISHED');
    assert.ok(some(events, 'TEXT_MESSAGE_CONTENT').length > 1, 'it was not followed');
    assert.deepEqual(textsOf(client), await shown(api, garden));
    assert.equal(textsOf(client).length, 2);
  });
}

test('answers to several new messages all arrive', async (t) => {
  withoutWarnings(t);
  const scene = await startGarden(t);
  const { api, garden } = scene;
  const client = agentOf(HttpAgent, scene, garden);
  for (const [id, text] of Object.entries({
    a: '@Guide One',
    b: '@Weather Two',
    c: '@Guide Three',
  }))
    say(client, id, text);
  await run(client);
  const posted = await shown(api, garden);
  assert.equal(posted.length, 6);
  assert.deepEqual(textsOf(client).sort(), posted.sort());
});

test('the text of a run that another one replaces is taken back', async (t) => {
  withoutWarnings(t);
  const scene = await startGarden(t, WORD_MS);
  const { api, sarah, guide, garden } = scene;
  await api.change(guide.id, { agent: { concurrency: { mode: 'latest' } } });
  const client = agentOf(HttpAgent, scene, garden);
  say(client, 'a', '@Guide When does it open?');
  let isPosted = false;
  const events = await run(client, {}, ({ type }) => {
    if (type !== 'TEXT_MESSAGE_CONTENT' || isPosted) return;
    isPosted = true;
    void api.postMessage(garden, sarah, '@Guide Tell me instead!');
  });
  const [failed] = some(events, 'SUBAGENT_ERROR');
  assert.equal(failed.code, 'canceled');
  assert.equal(some(events, 'MESSAGES_SNAPSHOT').length, 2);
  const texts = textsOf(client).map(([, , text]) => text);
  assert.deepEqual(texts, ['@Guide When does it open?', '@Guide Tell me instead!']);
});

test('only the messages at the end are new', async (t) => {
  const scene = await startGarden(t);
  const { api, garden } = scene;
  const client = agentOf(HttpAgent, scene, garden);
  say(client, 'a', 'Sent to another agent');
  client.addMessage({ id: 'b', role: 'assistant', content: 'By another agent' });
  say(client, 'c', 'Sent to this space');
  await run(client);
  const posted = (await api.messages(garden)).map(({ parts, clientKey }) => [
    parts[0].text,
    clientKey,
  ]);
  assert.deepEqual(posted, [['Sent to this space', 'agui:c']]);
});

test('what a thread cannot be is refused with the reason', async (t) => {
  const scene = await startGarden(t);
  const { product, garden, secret, bearer } = scene;
  const ask = async (body, headers = bearer) => {
    const response = await fetch(`${product.base}/v1/agui`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const type = response.headers.get('content-type');
    if (response.status !== 200) assert.equal(type, 'application/problem+json');
    return { status: response.status, detail: (await response.json().catch(() => ({}))).detail };
  };
  const input = { threadId: garden.id, runId: 'r', messages: [], tools: [], context: [] };
  const user = (id, content) => ({ id, role: 'user', content });
  const interruptId = 'cal_01M8BZV5BRZ8DPMPD3J8QDZTE4';
  const open = { interruptId, status: 'cancelled' };
  const cases = [
    [{ ...input, threadId: secret.id }, 404, /no such space/],
    [{ ...input, threadId: 'nonsense' }, 404, /no such space/],
    [{ runId: 'r' }, 422, /threadId/],
    ['{', 400, /JSON/],
    [{ ...input, messages: [user('a', '')] }, 422, /1 to 32768 bytes/],
    [{ ...input, messages: [user('a', [{ type: 'image' }])] }, 422, /expected the file itself/],
    [
      { ...input, messages: Array.from({ length: 11 }, (_, id) => user(`${id}`, 'Hi')) },
      422,
      /at most 10/,
    ],
    [{ ...input, resume: [{ interruptId: 'x', status: 'cancelled' }] }, 422, /cal_/],
    [{ ...input, resume: [open, open] }, 422, /twice/],
    [[], 422, /an object/],
    [`{"threadId": "${garden.id}", "threadId": "x", "runId": "r"}`, 400, /threadId/],
    [' '.repeat(6 * 1024 * 1024 + 1), 413, /6291456 bytes/],
  ];
  for (const [body, status, detail] of cases) {
    const answer = await ask(body);
    assert.equal(answer.status, status, JSON.stringify(body).slice(0, 80));
    assert.match(answer.detail, detail);
  }
  const first = { ...input, messages: [user('same', 'One')] };
  assert.equal((await ask(first)).status, 200);
  const other = await ask({ ...input, messages: [user('same', 'Two')] });
  assert.equal(other.status, 422);
  assert.match(other.detail, /other content/);
  assert.equal((await ask(input, {})).status, 401);
  assert.equal((await ask(input, { authorization: `Bearer ${product.adminKey}` })).status, 403);
});
