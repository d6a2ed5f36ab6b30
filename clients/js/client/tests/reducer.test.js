// The reducer of a space for itself: it is pure, a frame counts once, and the order of events does
// not matter in the end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomOf } from './model/clock.js';
import { CALLER, SEND, happened, shuffled } from './model/events.js';
import { moduleOf } from './model/library.js';
import { recorded } from './model/recorded.js';
import { SPACE } from './model/server.js';

const { DELAYED_CHANGES } = await moduleOf('space/delayed_changes.js');
const { JOBS } = await moduleOf('space/jobs.js');
const { addSend, sendsRestored, stored } = await moduleOf('space/outbox.js');
const { frameReceived, reduce } = await moduleOf('space/reducer.js');
const { entered, loaded, opened } = await moduleOf('space/opening.js');
const { initialState } = await moduleOf('space/state.js');
const { formsView, runsView, spaceView, timelineView } = await moduleOf('space/views.js');

const SEEDS = Number(process.env.MODEL_SEEDS ?? 300);
const STEPS = 25;
const LONGEST_WORK = 500;

/** An open space that a server's events reach, with the effects that nobody has run yet. */
class Space {
  state = initialState(SPACE, CALLER, true);
  effects = [];

  constructor({ server, start, now }) {
    this.server = server;
    this.inputs = { now, random: 0.5 };
    this.change(opened);
    const first = { floor: Number.MAX_SAFE_INTEGER };
    this.change(sendsRestored, []);
    this.change(loaded, { ...start, ...first });
    this.change(entered);
    this.change(addSend, SEND.key, { text: SEND.text, files: [] });
  }

  change = (...given) => {
    const { state, effects } = reduce(this.state, this.inputs, ...given);
    this.state = state;
    this.effects.push(...effects);
  };

  /** Takes a frame, or the answer to a send. */
  dispatch = (event) =>
    event.type === 'stored'
      ? this.change(stored, event.key, event.message)
      : this.change(frameReceived, event);

  /** Runs the calls and timers that were asked for, and those that follow from them. */
  async work() {
    const context = {
      call: async (method, path, { body } = {}) =>
        structuredClone(this.server.answer(method, `/v1/spaces/${SPACE}${path}`, body)),
      state: () => this.state,
      change: this.change,
      me: async () => CALLER,
    };
    for (let count = 0; this.effects.length > 0; count += 1) {
      assert.ok(count < LONGEST_WORK, 'the work never ends');
      const [type, name, ...given] = this.effects.shift();
      const isJob = type.startsWith('job') && name !== 'load';
      const delayMs = type === 'jobLater' || type === 'later' ? given.shift() : 0;
      this.inputs = { ...this.inputs, now: this.inputs.now + delayMs };
      if (isJob) await JOBS[name](context, ...given);
      if (type === 'later') this.change(DELAYED_CHANGES[name], ...given);
    }
  }

  /** What a page shows. */
  shown() {
    const { space } = spaceView(this.state);
    const { items } = timelineView(this.state);
    const { active, outcomes } = runsView(this.state);
    return {
      name: space.name,
      pins: space.pins ?? [],
      reads: space.members.map(({ id, readSeq }) => [id, readSeq]),
      items: items.map(({ type, key, message }) => ({ type, key, message })),
      active: active.map(({ runId, status }) => `${runId} ${status}`).sort(),
      outcomes,
      forms: formsView(this.state)
        .forms.map(({ callId }) => callId)
        .sort(),
    };
  }
}

function forEachSeed(check) {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const story = happened(seed, STEPS);
    try {
      check(new Space(story), shuffled(story.events, randomOf(seed)));
    } catch (error) {
      error.message = `seed ${seed}: ${error.message}`;
      throw error;
    }
  }
}

test('an event that comes twice changes nothing the second time', () =>
  forEachSeed((space, events) => {
    for (const event of events) {
      space.dispatch(event);
      const { state } = space;
      space.dispatch(event);
      assert.deepEqual(space.state, state, event.type);
    }
  }));

test('the reducer changes neither its state nor its event', () =>
  forEachSeed((space, events) => {
    for (const event of events) {
      const before = [space.state, event];
      const copy = structuredClone(before);
      space.dispatch(event);
      assert.deepEqual(before, copy, event.type);
    }
  }));

test('in any order of events, and with events twice, a space shows what HTTP says', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const story = happened(seed, STEPS);
    const { server, events } = story;
    const inOrder = new Space(story);
    events.forEach(inOrder.dispatch);
    inOrder.dispatch(subscribed(server));
    await inOrder.work();
    const expected = inOrder.shown();
    assert.deepEqual(
      expected.items.flatMap(({ message }) => message ?? []).map(({ seq, rev }) => [seq, rev]),
      server.messages.map(({ seq, rev }) => [seq, rev]),
      `seed ${seed}: the messages differ`,
    );
    for (const { message } of expected.items) {
      if (!message) continue;
      const { parent, ...stored } = message;
      assert.deepEqual(stored, plain(server.shown(server.messages[message.seq - 1])));
      if (message.replyTo) assert.deepEqual(parent, plain(server.parentOf(message)));
    }
    assert.deepEqual([...expected.pins].sort(), [...server.pins].sort());
    assert.equal(expected.name, server.name, `seed ${seed}: the name differs`);
    assert.ok(expected.items.every(({ type }) => type !== 'pending' && type !== 'live'));
    const random = randomOf(seed);
    for (let order = 0; order < 3; order += 1) {
      const space = new Space(story);
      shuffled(events, random).forEach(space.dispatch);
      space.dispatch(subscribed(server));
      await space.work();
      assert.deepEqual(space.shown(), expected, `seed ${seed}, order ${order}`);
    }
  }
});

const subscribed = (server) =>
  recorded({
    type: 'subscribed',
    spaceId: SPACE,
    seq: server.messages.length,
    from: null,
    active: server.activeRuns().map(({ id, agentId, status }) => ({ runId: id, agentId, status })),
  });

const plain = (value) => JSON.parse(JSON.stringify(value));
