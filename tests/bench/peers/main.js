// The product and Restate by turns, against one model server: how long until the first text and
// until the reply is kept, how many runs a second, how much memory. Prints medians and ratios.
//
// Each agent of a room answers each message. The listeners follow the room whose latency is
// measured; under load they are spread over all rooms, at least one in each.

import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startModel } from './model.js';
import { startRestate } from './restate.js';
import { startSmartspace } from './smartspace.js';

const HELP = `node main.js, or npm start --, with:
  --binary FILE    the product [default: ../../../target/release/smartspace]
  --rounds N       turns of each product [5]
  --messages N     messages one at a time, for the latencies [200]
  --seconds N      of load [10]
  --rooms N        under load [16]
  --history N      messages in each room before the measurement [50]
  --agents N       in each room; all of them answer [1]
  --listeners N    of the room whose latency is measured [1]
  --asks-twice     the model is asked once more after each answer`;

const { values: flags } = parseArgs({
  options: {
    binary: { type: 'string', default: '../../../target/release/smartspace' },
    rounds: { type: 'string', default: '5' },
    messages: { type: 'string', default: '200' },
    history: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '10' },
    rooms: { type: 'string', default: '16' },
    agents: { type: 'string', default: '1' },
    listeners: { type: 'string', default: '1' },
    'asks-twice': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (flags.help) {
  console.log(HELP);
  process.exit(0);
}
const [rounds, messages, history, seconds, rooms, agents, listeners] = [
  flags.rounds,
  flags.messages,
  flags.history,
  flags.seconds,
  flags.rooms,
  flags.agents,
  flags.listeners,
].map(Number);
if (!existsSync(flags.binary)) {
  console.error(`${flags.binary} is missing; build it: cargo build --release -p smartspace`);
  process.exit(1);
}

const median = (all) => [...all].sort((one, other) => one - other)[Math.floor(all.length / 2)];

/** One turn of one product. */
async function measure(product) {
  const texts = Array.from(
    { length: history },
    (_, at) => `Message ${at}: what people say to each other in the course of a day, no more.`,
  );
  const all = await Promise.all(
    Array.from({ length: rooms }, (_, number) => product.makeRoom(number, texts, agents)),
  );

  let firstAt = null;
  const listen = (room, count) =>
    Promise.all(Array.from({ length: count }, () => product.follow(room, null)));
  const others = await listen(all[0], listeners - 1);
  const leave = await product.follow(all[0], () => (firstAt ??= performance.now()));
  const times = { first: [], kept: [] };
  for (let at = 0; at < messages + 20; at += 1) {
    firstAt = null;
    const begun = performance.now();
    await product.ask(all[0], 'How long does it take?');
    const keptAt = performance.now();
    // The first messages warm up.
    if (at < 20) continue;
    times.first.push((firstAt ?? keptAt) - begun);
    times.kept.push(keptAt - begun);
  }
  [leave, ...others].forEach((leave) => leave());

  const inEach = Math.ceil(listeners / rooms);
  const followed = all.flatMap((room) => [
    product.follow(room, () => {}),
    listen(room, inEach - 1),
  ]);
  const leaves = (await Promise.all(followed)).flat();
  const before = product.used().processor;
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  let runs = 0;
  const load = async (room) => {
    while (performance.now() < until) {
      await product.ask(room, 'And under load?');
      runs += agents;
    }
  };
  await Promise.all(all.map(load));
  const took = (performance.now() - begun) / 1_000;
  const { memory, processor } = product.used();
  leaves.forEach((leave) => leave());
  return {
    first: median(times.first),
    kept: median(times.kept),
    runs: runs / took,
    processor: (processor - before) / runs,
    memory,
  };
}

const COLUMNS = [
  ['first', 'first text, ms', 1],
  ['kept', 'reply stored, ms', 1],
  ['runs', 'runs a second', 0],
  ['processor', 'processor time a run, ms', 2],
  ['memory', 'memory, MB', 0],
];
const model = await startModel();
const found = new Map();
const starts = [
  () => startSmartspace(model, { binary: flags.binary, asksTwice: flags['asks-twice'] }),
  () => startRestate(model),
];
for (let round = 0; round < rounds; round += 1) {
  for (const start of round % 2 === 0 ? starts : [...starts].reverse()) {
    const product = await start();
    const figures = await measure(product);
    await product.stop();
    found.set(product.name, [...(found.get(product.name) ?? []), figures]);
  }
}
model.stop();

const row = (cells) => console.log(`| ${cells.join(' | ')} |`);
row(['', ...COLUMNS.map(([, title]) => title)]);
row(['---', ...COLUMNS.map(() => '---')]);
const medians = (name, key) => median(found.get(name).map((figures) => figures[key]));
for (const [name, all] of found) {
  const cell = ([key, , digits]) => {
    const values = all.map((figures) => figures[key]);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const show = (value) => value.toFixed(digits);
    return `${show(median(values))} (${show(least)}–${show(most)})`;
  };
  row([name, ...COLUMNS.map(cell)]);
}
row([
  'ratio',
  ...COLUMNS.map(([key]) => (medians('Smartspace', key) / medians('Restate', key)).toFixed(2)),
]);
process.exit(0);
