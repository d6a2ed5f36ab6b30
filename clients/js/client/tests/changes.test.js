// Replies, threads, edits, deletions, reactions, pins and mentions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SARAH, deferred, message, openRoom } from './model/room.js';

const DELETED = { at: '2026-01-01T00:00:00.000Z', by: 'sender' };
const ok = (body) => ({ status: 200, body });
const refused = { status: 409, body: { detail: 'the message was deleted' } };
const shownIn = (room) =>
  room.space.timeline.getSnapshot().items.flatMap((item) => item.message ?? []);

/** A room in which the calls of a route wait for the test. */
async function roomWith(route, count = 3) {
  const answers = [];
  const calls = [];
  const respond = (call) => {
    if (!route.test(`${call.method} ${call.path}`)) return null;
    calls.push({ ...call, body: call.body && JSON.parse(call.body) });
    answers.push(deferred());
    return answers.at(-1).promise;
  };
  const room = await openRoom(count, { me: SARAH, respond });
  return Object.assign(room, { answers, asked: calls });
}

const edited = (seq, text, rev) => message(seq, text, { rev, editedAt: DELETED.at });
const tombstone = (seq, rev) => message(seq, '', { rev, parts: [], deleted: DELETED });

test('an edit shows at once, and stays when it is confirmed', async () => {
  const room = await roomWith(/PATCH/);
  const done = room.space.edit(2, 'better');
  assert.deepEqual(room.texts(), ['text 1', 'better', 'text 3']);
  assert.ok(shownIn(room)[1].editedAt);
  await room.clock.advance(1);
  assert.deepEqual(room.asked[0].body, { text: 'better' });
  room.answers[0].resolve(ok(edited(2, 'better', 2)));
  assert.equal((await done).rev, 2);
  assert.deepEqual(shownIn(room)[1], edited(2, 'better', 2));
});

test('a refused edit is undone, and the message is loaded again', async () => {
  const room = await roomWith(/PATCH/);
  const done = room.space.edit(2, 'better', { rev: 1 });
  await room.clock.advance(1);
  assert.deepEqual(room.asked[0].body, { text: 'better', rev: 1 });
  room.stored[1] = tombstone(2, 2);
  room.answers[0].resolve(refused);
  await assert.rejects(done, { status: 409, message: 'the message was deleted' });
  assert.equal(shownIn(room)[1].deleted, undefined);
  await room.clock.advance(10);
  assert.deepEqual(shownIn(room)[1].deleted, DELETED);
  assert.deepEqual(shownIn(room)[1].parts, []);
});

test('a deleted message stays deleted, whatever comes late', async () => {
  const room = await roomWith(/DELETE/);
  const done = room.space.delete(2);
  assert.deepEqual(shownIn(room)[1].parts, []);
  await room.clock.advance(1);
  room.answers[0].resolve({ status: 204, body: null });
  await done;
  assert.equal(shownIn(room)[1].deleted.by, 'owner');
  room.frames({ type: 'message.updated', message: edited(2, 'late', 2) });
  assert.deepEqual(shownIn(room)[1].parts, []);
  room.frames({ type: 'message.updated', message: tombstone(2, 3) });
  const { rev, deleted } = shownIn(room)[1];
  assert.deepEqual([rev, deleted], [3, DELETED]);
  room.frames({ type: 'message.updated', message: edited(2, 'later', 4) });
  const late = { messageId: 'm2', seq: 2, reactions: [thumb(['ada'])], reactionsRev: 9 };
  room.frames({ type: 'reactions', items: [late] });
  const last = shownIn(room)[1];
  assert.deepEqual([last.rev, last.parts, last.reactions], [3, [], undefined]);
});

const thumb = (entityIds, count = entityIds.length) => ({ emoji: '👍', count, entityIds });
const reactionsTo = (room, seq) => shownIn(room)[seq - 1].reactions;

test('a reaction shows at once, counts once, and is undone if it is refused', async () => {
  const room = await roomWith(/PUT .*reactions/);
  const done = room.space.react(2, '👍');
  assert.deepEqual(reactionsTo(room, 2), [thumb(['sarah'])]);
  await room.clock.advance(1);
  assert.deepEqual(room.asked[0].body, { emoji: '👍', on: true });
  // The frame comes before the answer, and again after it.
  const all = { seq: 2, reactions: [thumb(['ada', 'sarah'])], reactionsRev: 2 };
  const frame = { type: 'reactions', items: [{ messageId: 'm2', ...all }] };
  room.frames(frame);
  assert.deepEqual(reactionsTo(room, 2), all.reactions);
  room.answers[0].resolve(ok(all));
  await done;
  room.frames(frame);
  assert.deepEqual(reactionsTo(room, 2), all.reactions);
  // An older frame changes nothing.
  const before = { ...all, messageId: 'm2', reactions: [thumb(['ada'])], reactionsRev: 1 };
  room.frames({ type: 'reactions', items: [before] });
  assert.deepEqual(reactionsTo(room, 2), all.reactions);

  const undone = room.space.react(2, '👍', false);
  assert.deepEqual(reactionsTo(room, 2), [thumb(['ada'])]);
  await room.clock.advance(1);
  room.answers[1].resolve(refused);
  await assert.rejects(undone, { status: 409 });
  assert.deepEqual(reactionsTo(room, 2), all.reactions);
});

test('changes of one message are made one after the other', async () => {
  const room = await roomWith(/reactions/);
  const both = [room.space.react(2, '👍'), room.space.react(2, '👍', false)];
  assert.equal(reactionsTo(room, 2), undefined);
  const other = room.space.react(3, '🎉');
  await room.clock.advance(1);
  assert.deepEqual(
    room.asked.map(({ path, body }) => [path.split('/').at(-2), body.on]),
    [
      ['2', true],
      ['3', true],
    ],
  );
  room.answers[0].resolve(ok({ seq: 2, reactions: [thumb(['sarah'])], reactionsRev: 1 }));
  await both[0];
  assert.equal(reactionsTo(room, 2), undefined);
  await room.clock.advance(1);
  room.answers[2].resolve(ok({ seq: 2, reactions: [], reactionsRev: 2 }));
  room.answers[1].resolve(ok({ seq: 3, reactions: [], reactionsRev: 1 }));
  await Promise.all([...both, other]);
  assert.equal(reactionsTo(room, 2), undefined);
});

test('reactions that come before their message are shown with it', async () => {
  const room = await openRoom(3);
  const item = { messageId: 'm4', seq: 4, reactions: [thumb(['ada'])], reactionsRev: 1 };
  room.frames({ type: 'reactions', items: [item] });
  room.frames({ type: 'message.created', message: message(4, 'text 4') });
  assert.deepEqual(reactionsTo(room, 4), [thumb(['ada'])]);
});

test('after a break edits, deletions and reactions of loaded messages are looked up', async () => {
  const room = await openRoom(3);
  room.stored[0] = tombstone(1, 2);
  room.stored[1] = edited(2, 'better', 2);
  room.stored[2] = message(3, 'text 3', { reactions: [thumb(['ada'])], reactionsRev: 1 });
  room.sockets.at(-1).onclose({ code: 1006, reason: '' });
  await room.clock.advance(5000);
  assert.deepEqual(shownIn(room), room.stored);
});

const replyTo = (seq) => ({ seq, messageId: `m${seq}`, senderId: 'ada' });
const reply = (seq, to, thread = to) =>
  message(seq, `reply ${seq}`, { replyTo: replyTo(to), thread });

test('a reply has its parent, also one that is not loaded', async () => {
  // The client loads the last 50 messages only.
  const room = await roomWith(/GET .*messages\/1$/, 80);
  room.frames({ type: 'message.created', message: reply(81, 1) });
  assert.equal(shownIn(room).at(-1).parent, undefined);
  await room.clock.advance(1);
  room.answers[0].resolve(ok(message(1, 'x'.repeat(300))));
  await room.clock.advance(1);
  const parent = { seq: 1, messageId: 'm1', sender: message(1, '').sender };
  assert.deepEqual(shownIn(room).at(-1).parent, { ...parent, text: 'x'.repeat(200) });
  // It is asked for once.
  room.frames({ type: 'message.created', message: reply(82, 1) });
  await room.clock.advance(1000);
  assert.equal(room.asked.length, 1);
  room.frames({ type: 'message.updated', message: tombstone(1, 2) });
  const gone = { ...parent, text: '', deleted: DELETED };
  assert.deepEqual(shownIn(room).at(-1).parent, gone);
  room.frames({ type: 'message.created', message: reply(83, 82, 1) });
  assert.equal(shownIn(room).at(-1).parent.text, 'reply 82');
});

test('a send names its parent, and so does its preview', async () => {
  const posted = [];
  const respond = ({ method, path, body }) => {
    if (method !== 'POST' || !path.includes('/messages')) return null;
    posted.push(JSON.parse(body));
    const { replyTo: seq } = JSON.parse(body);
    const sender = SARAH.entity;
    if (path.endsWith('preview')) return ok({ dispatch: [] });
    return ok(message(4, 'Yes.', { sender, replyTo: replyTo(seq), thread: seq }));
  };
  const room = await openRoom(3, { me: SARAH, respond });
  await room.space.preview('Yes.', { replyTo: 2 });
  const thread = room.space.thread(2);
  thread.subscribe(() => {});
  const sent = room.space.send('Yes.', { replyTo: 2 });
  const [pending] = thread.getSnapshot().items.filter(({ type }) => type === 'pending');
  assert.equal(pending.send.replyTo, 2);
  await room.clock.advance(10);
  assert.equal((await sent).seq, 4);
  assert.deepEqual(posted, [
    { text: 'Yes.', replyTo: 2 },
    { text: 'Yes.', replyTo: 2 },
  ]);
  assert.deepEqual(shownIn(room).at(-1).parent.text, 'text 2');
});

test('a thread has its messages while somebody shows it, and the news', async () => {
  const room = await roomWith(/thread=1/);
  const thread = room.space.thread(1);
  assert.equal(thread, room.space.thread(1));
  const leave = thread.subscribe(() => {});
  assert.equal(thread.getSnapshot().isLoading, true);
  await room.clock.advance(1);
  const old = reply(2, 1);
  room.answers[0].resolve(
    ok({ items: [message(1, 'text 1'), old], parents: [], nextCursor: null }),
  );
  await room.clock.advance(1);
  room.frames({ type: 'message.created', message: reply(4, 2, 1) });
  room.frames({ type: 'message.created', message: message(5, 'text 5') });
  const texts = () => thread.getSnapshot().items.map((item) => item.message.parts[0]?.text);
  assert.deepEqual(texts(), ['text 1', 'reply 2', 'reply 4']);
  assert.equal(thread.getSnapshot().isLoading, false);
  const [first] = thread.getSnapshot().items;
  room.frames({
    type: 'message.updated',
    message: { ...old, rev: 2, parts: [], deleted: DELETED },
  });
  assert.deepEqual(texts(), ['text 1', undefined, 'reply 4']);
  assert.equal(thread.getSnapshot().items[0], first);
  leave();
  await room.clock.advance(2000);
  assert.deepEqual(thread.getSnapshot().items, []);
});

test('pins show at once, and follow the space', async () => {
  const room = await roomWith(/pins/);
  const { pins } = room.space;
  pins.subscribe(() => {});
  await room.clock.advance(1);
  room.answers[0].resolve(ok({ items: [] }));
  await room.clock.advance(1);
  assert.deepEqual(pins.getSnapshot(), { items: [], isLoading: false, error: null });
  const done = room.space.pin(2);
  assert.deepEqual(room.space.getSnapshot().space.pins, [2]);
  await room.clock.advance(1);
  const pin = { message: message(2, 'text 2'), pinnedBy: SARAH.entity, pinnedAt: DELETED.at };
  room.answers[1].resolve(ok(pin));
  await done;
  assert.deepEqual(room.space.getSnapshot().space.pins, [2]);
  await room.clock.advance(1);
  room.answers[2].resolve(ok({ items: [pin] }));
  await room.clock.advance(1);
  assert.deepEqual(pins.getSnapshot().items, [pin]);
  room.frames({ type: 'message.updated', message: edited(2, 'better', 2) });
  assert.equal(pins.getSnapshot().items[0].message.parts[0].text, 'better');
  room.frames({ type: 'message.updated', message: tombstone(2, 3) });
  assert.deepEqual(pins.getSnapshot().items, []);
  assert.deepEqual(room.space.getSnapshot().space.pins, []);
  const refusedPin = room.space.pin(3);
  assert.deepEqual(room.space.getSnapshot().space.pins, [3]);
  await room.clock.advance(1);
  room.answers.at(-1).resolve(refused);
  await assert.rejects(refusedPin, { status: 409 });
  assert.deepEqual(room.space.getSnapshot().space.pins, []);
});

test('the mentions are read again after a frame, and follow edits and deletions', async () => {
  let items = [];
  const respond = ({ path }) =>
    path.startsWith('/v1/mentions') ? ok({ items, nextCursor: null }) : null;
  const room = await openRoom(3, { me: SARAH, respond });
  const mentions = room.client.mentions();
  assert.equal(mentions, room.client.mentions());
  mentions.subscribe(() => {});
  await room.clock.advance(10);
  assert.deepEqual(mentions.getSnapshot().items, []);
  const item = { spaceId: 's', spaceName: 'S', why: 'mention' };
  items = [{ ...item, message: message(3, 'text 3') }];
  const sender = { ...SARAH.entity, id: 'omar', name: 'Omar' };
  room.frames({ type: 'mention', messageId: 'm3', seq: 3, why: 'mention', sender });
  await room.clock.advance(1000);
  assert.deepEqual(mentions.getSnapshot().items, items);
  assert.equal(mentions.getSnapshot().unread, 1);
  room.frames({ type: 'space.read', entityId: 'sarah', seq: 3 });
  assert.equal(mentions.getSnapshot().unread, 0);
  room.frames({ type: 'message.updated', message: edited(3, 'better', 2) });
  assert.equal(mentions.getSnapshot().items[0].message.parts[0].text, 'better');
  room.frames({ type: 'message.updated', message: tombstone(3, 3) });
  assert.deepEqual(mentions.getSnapshot().items, []);
});

test('an agent that only reacts has not been silent', async () => {
  const run = { id: 'r', agentId: 'ada', status: 'completed', stepCount: 1, endReason: 'done' };
  const room = await openRoom(0);
  room.runs.push({ ...run, createdAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:01Z' });
  const dispatch = [{ agentId: 'ada', runId: 'r', source: 'auto' }];
  room.frames({
    type: 'message.created',
    message: message(1, 'Thanks!', { sender: SARAH.entity, dispatch }),
  });
  room.frames({
    type: 'run.completed',
    run: { ...run, trigger: { type: 'space_message', messageId: 'm1', seq: 1, source: 'auto' } },
  });
  const item = { messageId: 'm1', seq: 1, reactions: [thumb(['ada'])], reactionsRev: 1 };
  room.frames({ type: 'reactions', items: [item] });
  await room.clock.advance(2000);
  const [outcome] = room.space.runs.getSnapshot().outcomes.m1;
  assert.deepEqual([outcome.state, outcome.reason], ['reacted', '👍']);
});
