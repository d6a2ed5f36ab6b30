// A scene that causes as many kinds of frames as possible, for an operator and for a member.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { ApiClient, EVERY_STEP, answerRule, callRule, formTool, tokenOf } from '../api_client.js';
import { call, openSocket } from './socket.js';

const SLOW = 150;
const WORDS = 'These are some words that take a moment to write.';
// An answer that no machine is too slow to meet while it is written. The scene cancels it.
const ENDLESS = `${WORDS} `.repeat(60);
const SCHEMA = {
  type: 'object',
  required: ['amount'],
  properties: { amount: { type: 'integer', title: 'Amount' } },
};
const routerOf = (agents) => ({
  model: {
    provider: 'scripted',
    name: 'scene',
    script: { rules: [{ choose: { agents } }] },
  },
});

/**
 * Plays the scene on a running product and returns all frames. The product is stopped after it.
 * `model` is a held model, which the product knows as the provider `held`.
 */
export async function playScene(product, model) {
  const { base, adminKey } = product;
  const api = new ApiClient(product);
  const people = [await api.createPerson('Husam'), await api.createPerson('Sarah')];
  const [husam, sarah] = people;
  const token = tokenOf(husam, product.jwtSecret);
  const asHusam = (...request) => call(base, token, ...request);
  const asOperator = (...request) => call(base, adminKey, ...request);
  const operator = await openSocket(base, adminKey);
  const member = await openSocket(base, token);
  const agents = [];

  async function agent(name, rules, config = {}, wordDelayMs = 0) {
    const model = {
      provider: 'scripted',
      name: 'scene',
      script: { wordDelayMs, rules },
    };
    const made = { type: 'agent', name, agent: { model, ...EVERY_STEP, ...config } };
    agents.push(await asOperator('POST', '/v1/entities', made));
    return agents.at(-1);
  }

  async function spaceWith(name, members, settings) {
    const space = await api.createSpace(name, [...people, ...members], settings);
    // Its frame shows no message, however slow this machine is.
    await member.until({ type: 'space.joined', spaceId: space.id });
    for (const socket of [operator, member])
      socket.send({
        action: 'subscribe',
        id: name,
        spaceId: space.id,
        afterSeq: 0,
        n: 1,
      });
    for (const socket of [operator, member]) await socket.until({ type: 'subscribed', id: name });
    return space;
  }
  const say = ({ id }, text) => asHusam('POST', `/v1/spaces/${id}/messages`, { text });
  const runOf = async (space, text = 'Begin.') => (await say(space, text)).dispatch[0].runId;
  const seen = (type, space) =>
    Promise.all([operator, member].map((each) => each.until({ type, spaceId: space.id })));
  const cancel = (run) => asHusam('POST', `/v1/runs/${run}/cancel`);

  // An answer that is written word by word, a client that joins in its middle, a failure, and a
  // queue.
  const concurrency = { maxRuns: 1, mode: 'parallel' };
  const slow = await agent('Slow', [answerRule(ENDLESS)], { concurrency }, SLOW);
  const answers = await spaceWith('Answers', [slow]);
  const first = await runOf(answers);
  const second = await runOf(answers, 'And once more.');
  await seen('run.queued', answers);
  const [{ streamId }] = await seen('stream.snapshot', answers);
  await cancel(second);
  await seen('run.canceled', answers);
  const late = await openSocket(base, token);
  late.send({ action: 'subscribe', id: 'late', spaceId: answers.id, afterSeq: 0 });
  await late.until({ type: 'subscribed', id: 'late' });
  member.send({
    action: 'snapshot',
    id: 'snapshot',
    streamId,
    spaceId: answers.id,
  });
  await member.until({ type: 'accepted', id: 'snapshot' });
  await cancel(first);
  await member.until(({ type, run }) => type === 'run.canceled' && run.id === first);

  // A run that is stopped while it writes: what members have seen stays.
  const stopped = await spaceWith('Stopped', [slow]);
  const stoppedRun = await runOf(stopped);
  await seen('stream.delta', stopped);
  await cancel(stoppedRun);
  const isPartial = ({ type, message, spaceId }) =>
    type === 'message.created' &&
    spaceId === stopped.id &&
    message.parts.some(({ partial }) => partial);
  await Promise.all([operator, member].map((each) => each.until(isPartial)));

  const failing = await agent('Failing', [{ steps: [{ error: 'bad_request' }] }]);
  const failures = await spaceWith('Failures', [failing]);
  await runOf(failures);
  await seen('run.failed', failures);

  // Forms: answered, declined, and closed because the run is canceled.
  const buttons = formTool('approve', { ui: 'buttons', answerBy: [husam.id] });
  const form = formTool('amount', { resultSchema: SCHEMA });
  const input = { message: 'Deploy?', options: ['Yes', 'No'] };
  const question = { title: 'How much?' };
  const asking = [
    await agent('Asking', [callRule('approve', input, 'Done.')], {
      tools: [buttons],
    }),
    await agent('Counting', [callRule('amount', question, 'Done.')], {
      tools: [form],
    }),
  ];
  const outputs = [{ output: { choice: 'Yes' } }, { declined: true, reason: 'Not today.' }];
  const asked = [];
  for (const [index, each] of asking.entries()) {
    const forms = await spaceWith(`Forms ${index}`, [each]);
    asked.push(forms);
    const run = await runOf(forms);
    const [{ callId }] = await seen('tool.requested', forms);
    await seen('run.waiting_tool', forms);
    await asHusam('POST', `/v1/runs/${run}/toolCalls/${callId}/result`, outputs[index]);
    for (const type of ['tool.resolved', 'message.updated', 'run.resumed', 'run.completed'])
      await seen(type, forms);
  }
  const closing = await spaceWith('Closed forms', [asking[0]]);
  const waits = await runOf(closing);
  await seen('run.waiting_tool', closing);
  await cancel(waits);
  await seen('tool.resolved', closing);

  // A card, few steps, silence, a plan's and a service's run, and a run that absorbs another.
  const execution = { type: 'static', output: { from: '9:00' } };
  const inputSchema = { type: 'object' };
  const hours = {
    name: 'hours',
    description: 'Hours.',
    inputSchema,
    execution,
  };
  const card = callRule('hours', {}, 'At nine.');
  const config = {
    tools: [{ ...hours, visible: true }],
    loop: { maxSteps: 2, endAfterSend: false },
  };
  const cards = await spaceWith('Cards', [await agent('Carding', [card], config)]);
  await runOf(cards);
  await seen('system.message', cards);
  await seen('run.completed', cards);

  const skip = {
    steps: [{ calls: [{ tool: 'skip_response', input: { reason: 'No need.' } }] }],
  };
  const silent = await agent('Silent', [skip]);
  const silence = await spaceWith('Silence', [silent]);
  await runOf(silence);
  await seen('run.completed', silence);

  // An answer at which the agents stop.
  const talking = await agent('Talking', [answerRule('Hello.')]);
  const ended = await spaceWith('Ended', [talking, silent], { maxChainDepth: 1 });
  await runOf(ended);
  const isEnd = ({ type, message }) => type === 'message.created' && message.chainEnded;
  for (const socket of [operator, member]) await socket.until(isEnd);

  const enter = (trigger) => ({
    when: { trigger },
    steps: [
      { calls: [{ tool: 'enter_space', input: { spaceId: 'Plans' } }] },
      { calls: [{ tool: 'send_message', input: { text: 'On time.' } }] },
    ],
  });
  const planning = await agent('Planning', [enter('plan'), enter('service')]);
  const plans = await spaceWith('Plans', [planning]);
  const plan = { name: 'Report', instruction: 'Report.', runAfter: '1 day' };
  const { id: planId } = await asOperator('POST', `/v1/agents/${planning.id}/plans`, plan);
  await asOperator('POST', `/v1/agents/${planning.id}/plans/${planId}/run`);
  await seen('run.completed', plans);
  const delivery = { service: 'ci', payload: { build: 1 } };
  const { runId } = await asOperator('POST', `/v1/agents/${planning.id}/trigger`, delivery);
  await member.until(({ type, run }) => type === 'run.completed' && run.id === runId);

  const absorbing = {
    when: { contains: 'run_' },
    steps: [
      { calls: [{ tool: 'get_my_runs', input: {} }] },
      { calls: [{ tool: 'absorb_run', input: { runId: '{{message}}' } }] },
    ],
  };
  const twin = await agent('Twin', [absorbing, answerRule(ENDLESS)], {}, SLOW);
  const twins = await spaceWith('Twins', [twin]);
  const absorbed = await runOf(twins);
  await seen('stream.delta', twins);
  await say(twins, absorbed);
  await seen('run.canceled', twins);

  // The router, messages that are too long for a frame, and requests over the socket.
  const gate = { mode: 'off' };
  const routing = { triggerPolicy: 'router', gate, router: routerOf([]) };
  const routed = await spaceWith('Routed', [slow, failing], routing);
  await say(routed, 'Whoever this concerns.');
  await seen('message.updated', routed);
  const choosing = {
    triggerPolicy: 'router',
    gate,
    router: routerOf([{ name: 'Failing', reason: 'It fails.' }]),
  };
  const chosen = await spaceWith('Chosen', [slow, failing], choosing);
  await say(chosen, 'Whoever this concerns.');
  await seen('message.updated', chosen);
  // Messages that a client has missed come as they are now.
  for (const { id: spaceId } of [routed, chosen, cards, ...asked]) {
    late.send({ action: 'subscribe', id: spaceId, spaceId, afterSeq: 0 });
    await late.until(
      ({ type, ...frame }) => type === 'message.created' && frame.spaceId === spaceId,
    );
  }
  const quiet = await spaceWith('Quiet', [slow], { paused: true });
  await say(quiet, 'long '.repeat(6400));
  member.send({
    action: 'send',
    id: 'send',
    spaceId: quiet.id,
    text: 'Over the socket.',
  });
  member.send({
    action: 'send',
    id: 'refused',
    spaceId: 'spc_0',
    text: 'To nobody.',
  });
  member.send({
    action: 'presence',
    id: 'presence',
    spaceId: quiet.id,
  });
  await member.until({ id: 'presence' });
  await seen('presence', quiet);
  member.send({ action: 'presence', id: 'typing', spaceId: quiet.id, typing: true });
  const present = [quiet.id];
  member.send({ action: 'ping', id: 'ping', spaces: { [quiet.id]: 0 }, present });
  for (const id of ['send', 'refused', 'typing', 'ping']) await member.until({ id });
  await operator.until(({ type, typing }) => type === 'presence' && typing.length > 0);
  const hers = tokenOf(sarah, product.jwtSecret);
  await call(base, hers, 'PUT', `/v1/spaces/${quiet.id}/read`, { seq: 2 });
  await seen('space.read', quiet);
  const read = (reader) => call(base, reader, 'PUT', `/v1/spaces/${cards.id}/read`, { seq: 2 });
  await Promise.all([token, hers].map(read));
  await operator.until(({ type, reads }) => type === 'space.read' && reads);

  // A message with a file.
  const bytes = Buffer.from('Buy milk.');
  const announced = {
    name: 'list.txt',
    contentType: 'text/plain',
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
  const files = `/v1/spaces/${quiet.id}/attachments`;
  const { attachmentId, uploadUrl, headers } = await asHusam('POST', files, announced);
  const { status } = await fetch(uploadUrl, { method: 'PUT', headers, body: bytes });
  assert.equal(status, 200);
  await seen('attachment.ready', quiet);
  const withFile = { text: 'My list.', attachments: [attachmentId] };
  const { id: messageId } = await asHusam('POST', `/v1/spaces/${quiet.id}/messages`, withFile);
  await member.until(({ type, message }) => type === 'message.created' && message.id === messageId);

  await changeMessages(quiet, { base, husam: token, sarah: hers, member, late });

  // Two runs at a model whose server has one place.
  const held = { provider: 'held', name: 'held' };
  const waiting = [];
  for (const name of ['First', 'Second']) {
    const asking = await asOperator('POST', '/v1/entities', {
      type: 'agent',
      name,
      agent: { model: held },
    });
    waiting.push(await spaceWith(name, [asking]));
    await runOf(waiting.at(-1));
  }
  await operator.until(({ type, step }) => type === 'run.step' && step.waiting);
  model.release();
  for (const space of waiting) await seen('run.completed', space);

  // A snapshot of two frames.
  const longAnswer = `${'long'.repeat(7900)} ${ENDLESS}`;
  const long = await agent('Long', [answerRule(longAnswer)], {}, SLOW);
  const lengthy = await spaceWith('Lengthy', [long]);
  const longRun = await runOf(lengthy);
  await operator.until(({ type, offset }) => type === 'stream.snapshot' && offset > 0);
  await cancel(longRun);
  await seen('run.canceled', lengthy);

  // Members and settings.
  await asOperator('DELETE', `/v1/spaces/${quiet.id}/members/${sarah.id}`);
  await seen('member.left', quiet);
  await asOperator('PUT', `/v1/spaces/${quiet.id}/members/${sarah.id}`, {
    role: 'owner',
  });
  // Those who join a new space show only to a client that follows it soon enough.
  await asOperator('PUT', `/v1/spaces/${quiet.id}/members/${failing.id}`, {});
  const hasJoined = ({ type, spaceId, member: { id } = {} }) =>
    type === 'member.joined' && spaceId === quiet.id && id === failing.id;
  await Promise.all([operator, member].map((each) => each.until(hasJoined)));
  await asOperator('PATCH', `/v1/spaces/${quiet.id}`, { name: 'Quieter' });
  const isRenamed = ({ type, spaceId, line }) =>
    type === 'space.line' && spaceId === quiet.id && line.to === 'Quieter';
  await Promise.all([operator, member].map((each) => each.until(isRenamed)));
  await asOperator('DELETE', `/v1/spaces/${quiet.id}`);
  await seen('space.deleted', quiet);
  await member.until({ type: 'space.left', spaceId: quiet.id });
  await member.until({ type: 'space.joined', spaceId: quiet.id });
  operator.send({ action: 'unsubscribe', id: 'enough', spaceId: answers.id });
  await operator.until({ type: 'unsubscribed', id: 'enough' });
  await asOperator('DELETE', `/v1/spaces/${answers.id}/members/${husam.id}`);
  await member.until({ type: 'unsubscribed', spaceId: answers.id });

  const goodbyes = [operator, member].map((each) => each.until({ type: 'goodbye' }));
  await Promise.all([...goodbyes, product.stop()]);
  return [...operator.frames, ...member.frames, ...late.frames];
}

/** Returns the frames of a client that sends more than a product with limits allows. */
export async function playFlood({ base, adminKey }) {
  const flooding = await openSocket(base, adminKey);
  for (let id = 0; id < 400; id += 1) flooding.send({ action: 'ping', id });
  await flooding.until({ type: 'goodbye' });
  return flooding.frames;
}

// A reply, mentions, edits, reactions, a pin and deletions, as they happen and as they are stored.
async function changeMessages({ id: spaceId }, { base, husam, sarah, member, late }) {
  const messages = `/v1/spaces/${spaceId}/messages`;
  const asHusam = (...request) => call(base, husam, ...request);
  const updated = (seq, isIt) =>
    member.until(
      ({ type, message, ...frame }) =>
        type === 'message.updated' &&
        frame.spaceId === spaceId &&
        message.seq === seq &&
        isIt(message),
    );
  const asked = await asHusam('POST', messages, { text: 'Who brings bread?' }, 'one bread, please');
  const reply = (text) => call(base, sarah, 'POST', messages, { text, replyTo: asked.seq });
  const answers = [await reply('@Husam, I do.'), await reply('@all: I do not.')];
  const messageId = answers[0].id;
  await member.until((frame) => frame.type === 'mention' && frame.messageId === messageId);
  for (const [emoji, on] of [
    ['👍', true],
    ['🎉', true],
    ['🎉', false],
  ])
    await asHusam('PUT', `${messages}/${answers[0].seq}/reactions`, { emoji, on });
  await member.until({ type: 'reactions', spaceId });
  const text = '@Husam, I do, @all.';
  await call(base, sarah, 'PATCH', `${messages}/${answers[0].seq}`, { text });
  await asHusam('PATCH', `${messages}/${asked.seq}`, { text: 'Who brings bread, @Sarah?' });
  await updated(asked.seq, ({ editedAt }) => editedAt);
  await asHusam('PUT', `/v1/spaces/${spaceId}/pins/${asked.seq}`);
  await member.until(({ type, space }) => type === 'space.updated' && space.pins?.length > 0);
  await asHusam('DELETE', `/v1/spaces/${spaceId}/pins/${asked.seq}`);
  await member.until(({ type, space }) => type === 'space.updated' && !space.pins);
  await call(base, sarah, 'DELETE', `${messages}/${answers[1].seq}`);
  await updated(answers[1].seq, ({ deleted }) => deleted);
  const afterSeq = asked.seq - 1;
  late.send({ action: 'subscribe', id: 'changed', spaceId, afterSeq });
  await late.until(
    ({ type, message }) => type === 'message.created' && message.id === answers[1].id,
  );
}
