// Plays one seed: people and an agent use a space while the network misbehaves. In the end every
// tab shows what HTTP says.

import assert from 'node:assert/strict';
import { Clock, randomOf } from './clock.js';
import { Network, memoryStorage } from './network.js';
import { ME, Server, isEnded } from './server.js';
import { Tab } from './tab.js';

const STEPS = 40;
const PING_MS = 241_000;
const LATEST_MS = 1500; // A fault is over when the last frame that it held up has arrived.

/** Plays a seed with the library's `createClient`. Throws if something is wrong. */
export async function play(createClient, seed) {
  const world = new World(createClient, seed);
  try {
    await world.play();
  } catch (error) {
    error.message = `seed ${seed}: ${error.message}`;
    throw error;
  }
}

class World {
  constructor(createClient, seed) {
    this.createClient = createClient;
    this.random = randomOf(seed);
    this.clock = new Clock();
    this.server = new Server(this.clock);
    this.network = new Network(this.clock, this.random, this.server);
    this.storage = memoryStorage();
    this.tabs = [];
    // Some sequences lose frames without cutting a connection. Then only the next ping tells.
    this.losesFrames = seed % 4 === 0;
    this.rollsOver = seed % 50 === 0;
    // Without agents nothing makes a client look again, except its pings.
    this.isQuiet = seed % 8 === 0;
    this.list = seed % 3 === 0 ? new Tab(createClient, this, { isListOnly: true }) : null;
    this.sent = [];
  }

  async play() {
    const { random, server } = this;
    for (let count = random.below(4) && random.below(60); count > 0; count -= 1)
      server.say(`before ${count}`);
    this.open();
    if (random.chance(0.5)) this.open();
    let faultEndsAt = -1;
    for (let step = 0; step < STEPS; step += 1) {
      this.act(step);
      if (faultEndsAt <= step && random.chance(step === 0 ? 0.3 : 0.15)) {
        faultEndsAt = step + 1 + random.below(5);
        this.startFault();
      }
      if (step === faultEndsAt) this.endFault();
      await this.clock.advance(random.below(random.chance(0.2) ? 2500 : 250));
    }
    this.endFault();
    await this.clock.advance(this.losesFrames ? 2 * PING_MS : LATEST_MS);
    await this.clock.advance(3000);
    this.compare();
    await this.compareLive();
    if (this.rollsOver) await this.rollOver();
  }

  open() {
    const tab = new Tab(this.createClient, this);
    this.tabs.push(tab);
    return tab;
  }

  act(step) {
    const { random, server } = this;
    const tab = random.of(this.tabs);
    const runs = server.activeRuns();
    const run = runs.length > 0 ? random.of(runs) : null;
    const streams = [...server.streams.values()];
    const stream = streams.length > 0 ? random.of(streams) : null;
    const acts = {
      say: () => server.say(`other ${step}`),
      // A message may repeat another one's text.
      send: () => this.send(tab, `mine ${random.below(6)}`),
      undecided: () => server.post(ME, `elsewhere ${step}`, false),
      decide: () => server.undecided().forEach((seq) => server.decide(seq)),
      work: () => run && this.work(run),
      write: () => stream && server.write(stream.streamId, `word ${step} `),
      finish: () =>
        stream &&
        (stream.text
          ? server.finishStream(stream.streamId)
          : server.dropStream(stream.streamId, 'failed')),
      // A fast agent: everything happens at the same moment.
      burst: () => run?.status === 'running' && this.burst(run),
      again: () => {
        if (!stream || !stream.text) return;
        server.dropStream(stream.streamId);
        server.stream(stream.runId, stream);
      },
      snapshot: () => streams.forEach(({ streamId }) => server.snapshot(streamId)),
      answer: () => this.answer(tab),
      resolve: () =>
        server
          .forms()
          .slice(0, 1)
          .forEach(({ callId }) => server.resolve(callId, 'ent_sarah')),
      read: () => tab.space.markRead().catch(() => {}),
      rename: () => this.losesFrames || server.rename(`Harbour ${step}`),
      reply: () => server.messages.length > 0 && this.reply(step),
      change: () => this.losesFrames || this.change(tab, step),
      reload: () => random.chance(0.3) && this.reload(tab),
      look: () => tab.signal?.('visibilitychange'),
    };
    const weights = this.isQuiet
      ? 'say read look'
      : 'say send send undecided decide work work work write write write finish burst burst ' +
        'again snapshot answer resolve read rename rename reload look reply change change change';
    acts[random.of(weights.split(' '))]();
  }

  // Half of the replies belong to the thread that the tabs show.
  reply(step) {
    const { random, server } = this;
    const seq = random.chance(0.5) ? 1 : 1 + random.below(server.messages.length);
    server.reply(seq, `reply ${step}`);
  }

  // A person changes a message, in a tab or elsewhere. What was sent must stay for `compare`.
  change({ space }, step) {
    const { random, server } = this;
    const changeable = ({ parts }) => !parts[0]?.text?.startsWith('mine');
    const { seq } = random.of(server.messages.filter(changeable)) ?? {};
    if (!seq) return;
    const on = random.chance(0.7);
    const emoji = random.of(['👍', '🎉']);
    const refused = () => {};
    const acts = [
      () => server.edit(seq, `edited ${step}`),
      () => server.remove(seq),
      () => server.react(seq, 'ent_sarah', emoji, on),
      () => server.pin(seq, on),
      () => space.edit(seq, `corrected ${step}`).catch(refused),
      () => space.delete(seq).catch(refused),
      () => space.react(seq, emoji, on).catch(refused),
      () => space.pin(seq, on).catch(refused),
    ];
    random.of(acts)();
  }

  work(run) {
    const { random, server } = this;
    if (run.status === 'queued') return server.claim(run.id);
    if (run.status === 'waiting_tool') return undefined;
    const kind = random.below(8);
    if (kind < 5) return server.stream(run.id);
    if (kind === 5) return server.ask(run.id);
    return server.end(run.id, random.of(['completed', 'failed', 'canceled']));
  }

  burst(run) {
    const { random, server } = this;
    const { streamId } = server.stream(run.id);
    for (let count = 1 + random.below(4); count > 0; count -= 1)
      server.write(streamId, `quick ${count} `);
    if (random.chance(0.3)) server.snapshot(streamId);
    server.finishStream(streamId);
    if (random.chance(0.5)) server.end(run.id, 'completed');
  }

  send(tab, text) {
    this.sent.push(text);
    tab.send(text);
  }

  answer(tab) {
    const [form] = tab.space.forms.getSnapshot().forms;
    if (form) tab.space.answer(form.callId, {}).catch(() => {});
  }

  reload(tab) {
    // What is not in the storage before the caller is known is lost with the tab.
    if (tab.space.getSnapshot().isLoading) return;
    tab.close();
    this.tabs = this.tabs.filter((each) => each !== tab);
    const opened = this.open();
    opened.before = tab;
  }

  startFault() {
    const { network, random } = this;
    network.spreadMs = random.of([0, 400, LATEST_MS]);
    network.doubles = random.chance(0.5) ? 0.3 : 0;
    const kind = random.below(5);
    if (kind < 2 && this.losesFrames) network.loss = 0.4;
    if (kind === 1 && !this.losesFrames) network.errors = 0.6;
    if (kind === 2) network.isFrozen = true;
    if (kind === 3) {
      network.isDown = true;
      network.cut();
    }
    if (kind === 4 || (network.loss > 0 && random.chance(0.5)))
      network.cut(random.chance(0.5) ? { code: 1012, reason: 'restart' } : undefined);
  }

  endFault() {
    const { network } = this;
    network.spreadMs = network.doubles = network.loss = network.errors = 0;
    network.isDown = network.isFrozen = false;
  }

  compare() {
    const { server } = this;
    const posted = server.messages
      .filter(({ sender }) => sender.id === ME.id)
      .map(({ parts }) => parts[0]?.text);
    assert.deepEqual(
      posted.filter((text) => text?.startsWith('mine')).sort(),
      [...this.sent].sort(),
      'what was sent is not what is stored',
    );
    for (const tab of this.tabs) {
      if (tab.failure) throw tab.failure;
      const { client, space } = tab;
      assert.equal(client.connection.getSnapshot().state, 'live');
      const items = tab.items();
      const shown = items.flatMap((item) => (item.type === 'message' ? [item.message] : []));
      const stored = server.messages.map((message) => plain(server.shown(message)));
      const expected = stored.map((message) =>
        message.replyTo ? { ...message, parent: plain(server.parentOf(message)) } : message,
      );
      assert.deepEqual(
        shown,
        expected.slice(expected.length - shown.length),
        'the messages differ',
      );
      assert.deepEqual(
        space
          .thread(1)
          .getSnapshot()
          .items.map(({ message }) => message),
        expected.filter(({ seq, thread }) => seq === 1 || thread === 1),
        'the thread differs',
      );
      assert.deepEqual(
        space.pins
          .getSnapshot()
          .items.map(({ message }) => message)
          .sort((one, other) => one.seq - other.seq),
        expected.filter(({ seq }) => server.pins.includes(seq)),
        'the pins differ',
      );
      assert.ok(
        shown.length >= Math.min(50, server.messages.length),
        `only ${shown.length} messages are shown`,
      );
      assert.deepEqual(
        items.filter(({ type }) => type === 'pending'),
        [],
        'a send is left',
      );
      // No event says that a run is queued.
      const isKnown = ({ status }) => status !== 'queued';
      const active = space.runs.getSnapshot().active.filter(isKnown);
      assert.deepEqual(
        active.map(({ runId, status }) => `${runId} ${status}`).sort(),
        server
          .activeRuns()
          .filter(isKnown)
          .map(({ id, status }) => `${id} ${status}`)
          .sort(),
        'the active runs differ',
      );
      const open = server.forms().map(({ callId }) => callId);
      assert.deepEqual(
        space.forms
          .getSnapshot()
          .forms.map(({ callId }) => callId)
          .sort(),
        open.sort(),
        'the forms differ',
      );
      assert.deepEqual(tab.flickers(server), [], 'a stream flickered');
      this.compareOutcomes(tab);
      this.compareList(tab);
      if (this.losesFrames) continue;
      assert.equal(space.getSnapshot().space.name, server.name, 'the name differs');
      this.compareStreams(tab);
    }
    if (this.list) this.compareList(this.list);
  }

  compareList({ client }) {
    const { server } = this;
    const [summary] = client.spaces.getSnapshot().spaces;
    assert.equal(
      summary.lastMessage?.seq,
      server.messages.at(-1)?.seq,
      'the last message of the list differs',
    );
    if (this.losesFrames) return;
    assert.equal(summary.unread, server.space().me.unread, 'the unread count differs');
    assert.equal(summary.name, server.name, 'the name in the list differs');
    assert.deepEqual(
      summary.activity.flatMap(({ runId, status }) => (status === 'queued' ? [] : [runId])).sort(),
      server
        .activeRuns()
        .filter(({ status }) => status !== 'queued')
        .map(({ id }) => id)
        .sort(),
      'the activity in the list differs',
    );
    assert.deepEqual(
      client.inbox
        .getSnapshot()
        .items.map(({ callId }) => callId)
        .sort(),
      server
        .forms()
        .map(({ callId }) => callId)
        .sort(),
      'the inbox differs',
    );
  }

  compareOutcomes({ space }) {
    const { outcomes } = space.runs.getSnapshot();
    for (const { id, dispatch } of this.server.messages)
      for (const { runId } of dispatch ?? []) {
        const outcome = outcomes[id]?.find((each) => each.runId === runId);
        const { status } = this.server.runs.get(runId);
        if (outcome && isEnded(status))
          assert.ok(
            ['spoke', 'reacted', 'silent', 'refused', 'failed', 'stopped', 'unknown'].includes(
              outcome.state,
            ),
            `${runId} is ${status} and shown as ${outcome.state}`,
          );
      }
  }

  // Every stream that is being written is shown as far as it is known.
  compareStreams({ space }) {
    for (const { streamId, text } of this.server.streams.values()) {
      const shown = space.stream(streamId).getSnapshot().text;
      assert.ok(text.startsWith(shown), `${streamId} shows what was not written`);
    }
  }

  // A stream whose end was lost with a connection is dropped after a minute of silence.
  async compareLive() {
    const ended = () =>
      this.tabs.flatMap((tab) =>
        tab.items().filter(({ type, key }) => type === 'live' && !this.server.streams.has(key)),
      );
    const replaced = new Set(this.server.messages.map(({ streamId }) => streamId));
    assert.deepEqual(
      ended().filter(({ key }) => replaced.has(key)),
      [],
      'a replaced stream is shown',
    );
    if (ended().length === 0) return;
    await this.clock.advance(65_000);
    assert.deepEqual(ended(), [], 'a stream has ended and is still shown');
  }

  async rollOver() {
    for (const tab of this.tabs) tab.states.length = 0;
    const tabs = this.tabs.length + (this.list ? 1 : 0);
    const before = new Set(this.server.sockets);
    let fewest = Infinity;
    this.network.onClose = () => {
      const followers = [...this.server.sockets].filter(({ isSubscribed }) => isSubscribed);
      fewest = Math.min(fewest, followers.length);
    };
    await this.clock.advance(115 * 60_000);
    this.server.say('after the roll-over');
    await this.clock.advance(1000);
    for (const tab of this.tabs) {
      assert.deepEqual(
        tab.states.filter((state) => state !== 'live'),
        [],
        'the roll-over interrupted the connection',
      );
      assert.equal(tab.items().at(-1).message.parts[0].text, 'after the roll-over');
    }
    for (const socket of this.server.sockets)
      assert.ok(!before.has(socket), 'a socket is older than two hours');
    assert.equal(this.server.sockets.size, tabs, 'a socket was left open');
    delete this.network.onClose;
    assert.ok(fewest >= this.tabs.length, 'nobody followed for a moment');
  }
}

const plain = (message) => JSON.parse(JSON.stringify(message));
