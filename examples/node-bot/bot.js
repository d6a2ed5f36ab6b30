// Says something to an agent, prints the answer while the agent writes it, and answers its forms.

import { createClient } from '@smartspace/client';

const { SMARTSPACE_URL: url, SMARTSPACE_TOKEN: token, SMARTSPACE_SPACE: id } = process.env;
// Node has a WebSocket of its own since version 22.
const WebSocket = globalThis.WebSocket ?? (await import('ws')).WebSocket;
const space = createClient({ url, token, environment: { WebSocket } }).space(id);
const printed = new Map(); // How much of each text is printed.
let sent, end;

const stores = [space.timeline, space.forms, space.runs];
const stops = stores.map((store) => store.subscribe(look));
sent = await space.send(process.argv[2] ?? 'Hello!');
look();

function look() {
  for (const item of space.timeline.getSnapshot().items) show(item);
  for (const form of space.forms.getSnapshot().forms) answer(form);
  const outcomes = space.runs.getSnapshot().outcomes[sent?.id] ?? [{}];
  const isOver = outcomes.every(({ state }) =>
    /spoke|reacted|silent|failed|stopped|not/.test(state),
  );
  // A message may arrive a moment after its run has ended. Then nothing keeps the process alive.
  if (isOver) end ??= setTimeout(() => stops.forEach((stop) => stop()), 1000);
}

function show({ type, key, stream, message }) {
  if (type === 'live' && stream.kind === 'message') {
    const store = space.stream(stream.streamId);
    const write = () => print(key, stream.sender.name, store.getSnapshot().text);
    if (!printed.has(key)) stops.push(store.subscribe(write));
    write();
  } else if (type === 'message' && message.seq > sent?.seq && message.parts[0].text)
    print(key, message.sender.name, message.parts[0].text, '\n');
}

function print(key, name, text, end = '') {
  const length = printed.get(key) ?? 0;
  if (length === 'all') return;
  process.stdout.write((length ? '' : `${name}: `) + text.slice(length) + end);
  printed.set(key, end ? 'all' : text.length);
}

async function answer({ callId, input, mayAnswer }) {
  if (!mayAnswer || !input.options || printed.has(callId)) return;
  printed.set(callId, 'all');
  console.log(`${input.message} I say: ${input.options[0]}`);
  await space.answer(callId, { choice: input.options[0] });
}
