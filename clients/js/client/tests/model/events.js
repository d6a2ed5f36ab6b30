// The events of a space that a seed determines: the frames of a server on which people and an agent
// act, and the answer to a send of this client.

import { Clock, randomOf } from './clock.js';
import { ME, SPACE, Server } from './server.js';

export const CALLER = { kind: 'entity', entity: ME, capabilities: [] };
export const SEND = { key: 'send 1', text: 'mine' };

/** Plays `count` acts. Returns the server, and the events in the order in which they happened. */
export function happened(seed, count) {
  const random = randomOf(seed);
  const clock = new Clock();
  const server = new Server(clock);
  for (let before = random.below(5); before > 0; before -= 1) server.say(`before ${before}`);
  const start = { space: server.space(), page: { items: [...server.messages] } };
  const events = [];
  server.sockets.add({ isSubscribed: true, deliver: (frame) => events.push(plain(frame)) });
  const sendAt = random.below(count);
  for (let step = 0; step < count; step += 1) {
    clock.now += 10;
    if (step === sendAt) events.push(post(server));
    act(server, random, step);
  }
  // No frame says that a stream without an end is over, only silence.
  for (const { streamId, text } of [...server.streams.values()])
    if (text) server.finishStream(streamId);
    else server.dropStream(streamId, 'failed');
  return { server, start, events, now: clock.now };
}

function post(server) {
  const path = `/v1/spaces/${SPACE}/messages`;
  const message = server.answer('POST', path, { text: SEND.text }, SEND.key);
  return { type: 'stored', key: SEND.key, message: plain(message) };
}

function act(server, random, step) {
  const run = random.of([...server.activeRuns(), undefined]);
  const stream = random.of([...server.streams.values(), undefined]);
  const any = random.of([...server.messages, undefined]);
  const isWorking = run?.status === 'running';
  const acts = [
    () => server.say(`other ${step}`),
    () => server.post(ME, `elsewhere ${step}`, random.chance(0.5)),
    () => server.undecided().forEach((seq) => server.decide(seq)),
    () => run?.status === 'queued' && server.claim(run.id),
    () => isWorking && server.stream(run.id),
    () => isWorking && server.ask(run.id),
    () => stream && server.write(stream.streamId, `word ${step} `),
    () => stream && server.snapshot(stream.streamId),
    () => stream?.text && server.finishStream(stream.streamId),
    () => server.forms().forEach(({ callId }) => server.resolve(callId, ME.id)),
    () => isWorking && server.end(run.id, random.of(['completed', 'failed', 'canceled'])),
    () => server.rename(`Harbour ${step}`),
    () => any && server.reply(any.seq, `reply ${step}`),
    () => any && server.edit(any.seq, `edited ${step}`),
    () => any && server.remove(any.seq),
    () => any && server.react(any.seq, random.of(['ent_sarah', ME.id]), '👍', random.chance(0.7)),
    () => any && server.pin(any.seq, random.chance(0.7)),
    () => server.answer('PUT', `/v1/spaces/${SPACE}/read`, { seq: 1 + random.below(step + 1) }),
  ];
  random.of(acts)();
}

/** The events in an order of chance, some of them twice. */
export function shuffled(events, random) {
  const copies = events.flatMap((event) => (random.chance(0.3) ? [event, event] : [event]));
  return copies
    .map((event) => [random(), event])
    .sort(([one], [other]) => one - other)
    .map(([, event]) => event);
}

const plain = (value) => JSON.parse(JSON.stringify(value));
