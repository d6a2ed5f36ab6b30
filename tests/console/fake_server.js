// A room with a fake server, shown on the page. A test delivers frames to it and reads its
// requests.

import { openTab } from './console_page.js';
import { product } from './suite.js';

/**
 * A tab with an empty room of the agent Ada and the people Sarah and Husam. The functions that make
 * frames are properties of its `window`.
 */
export async function openFakeRoom(t, options) {
  const page = await openTab(t, options);
  await page.clock.install({ time: new Date('2026-05-01T12:00:00Z') });
  await page.goto(product.base);
  await page.evaluate(makeRoom);
  return page;
}

/** Delivers the frames that `make(data)` returns. `make` runs in the page. */
export const deliver = (page, make, data) =>
  page.evaluate(`window.deliver(...[(${make})(${JSON.stringify(data)})].flat())`);

/** The requests so far: `{path, body}`. */
export const sent = (page) => page.evaluate(() => window.sent);

// Runs in the page.
async function makeRoom() {
  const { Answers } = await import('/console/answers.js');
  const { Room } = await import('/console/room.js');
  const { Senders } = await import('/console/senders.js');
  const { Timeline } = await import('/console/timeline.js');
  const { ActiveRuns } = await import('/console/active_runs.js');
  const ada = { id: 'ada', name: 'Ada', type: 'agent' };
  const members = [
    ada,
    { id: 'sarah', name: 'Sarah', type: 'human' },
    { id: 'husam', name: 'Husam', type: 'human' },
  ];
  let page = [];
  window.sent = [];
  // The streams of which the page asked for a snapshot.
  window.snapshots = [];
  // The response to a call. A test may replace it.
  window.respond = async () => null;
  const api = {
    get: async (path) =>
      path.includes('/runs') ? { items: [] } : { id: 's', name: 'S', seq: page.length, members },
    messages: async (spaceId, { before }) => (before ? page : []),
    call: async (method, path, { body }) => {
      window.sent.push({ path, body });
      return window.respond(body);
    },
  };
  const senders = new Senders();
  const answers = new Answers(api, senders);
  const timeline = new Timeline(() => {});
  const activeRuns = new ActiveRuns(() => {});
  let room = null;
  const show = () => {
    if (!room) return;
    timeline.show(room, answers);
    activeRuns.show(room);
  };
  // Opens the room again. The messages of these frames are its last page.
  window.open = async (frames = []) => {
    page = frames.map((frame) => frame.message);
    room = null;
    room = await Room.open(api, 's', show, (streamId) => window.snapshots.push(streamId));
    show();
  };
  document.getElementById('sign-in').hidden = true;
  document.getElementById('console').hidden = false;
  await window.open();

  // Selects the sender, as the composer does. At first it is Sarah, the first person.
  window.sendAs = (id) => {
    senders.choose(room.space, id);
    show();
  };
  window.deliver = (...frames) =>
    frames.forEach((frame) => room.handle({ spaceId: 's', ...frame }));
  const message = (seq, parts, more) => {
    const createdAt = new Date(Date.UTC(2026, 4, 1, 11, 0, seq)).toISOString();
    return {
      id: `m${seq}`,
      seq,
      rev: 1,
      sender: ada,
      parts,
      runId: 'r',
      streamId: null,
      dispatch: [],
      createdAt,
      ...more,
    };
  };
  window.text = (seq, text, more = {}) => ({
    type: 'message.created',
    message: message(seq, [{ type: 'text', text }], more),
  });
  window.stream = (streamId, text, more) => [
    { type: 'stream.started', streamId, callId: streamId, attempt: 1, sender: ada, ...more },
    { type: 'stream.delta', streamId, offset: 0, text },
  ];
  window.card = (seq, part, more = {}) => {
    const call = {
      type: 'tool',
      callId: `c${seq}`,
      name: 'ask',
      input: {},
      output: null,
      status: 'pending',
      ui: 'form',
      resultSchema: null,
    };
    return {
      type: 'message.updated',
      message: message(
        seq,
        [{ ...call, answerBy: 'humans', resolvedBy: null, expiresAt: null, ...part }],
        more,
      ),
    };
  };
}
