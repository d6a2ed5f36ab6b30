// A room with a made-up server behind it, shown on the page: a test hands it frames and sees what is sent.

import { openTab } from './console.js';
import { product } from './suite.js';

/** A tab with an empty room of Ada, an agent, and the people Sarah and Husam. In it stand the makers of frames below. */
export async function openMadeUpRoom(t, options) {
  const page = await openTab(t, options);
  await page.clock.install({ time: new Date('2026-05-01T12:00:00Z') });
  await page.goto(product.base);
  await page.evaluate(makeRoom);
  return page;
}

/** Hands a made-up room what `make` returns, frames made in the page with `given`. */
export const hand = (page, make, given) => page.evaluate(`window.hand(...[(${make})(${JSON.stringify(given)})].flat())`);

/** What was sent so far: `{path, body}`. */
export const sent = (page) => page.evaluate(() => window.sent);

// Runs in the page.
async function makeRoom() {
  const { Answers } = await import('/console/answers.js');
  const { Room } = await import('/console/room.js');
  const { Speakers } = await import('/console/speakers.js');
  const { Timeline } = await import('/console/timeline.js');
  const { Working } = await import('/console/working.js');
  const ada = { id: 'ada', name: 'Ada', type: 'agent' };
  const members = [ada, { id: 'sarah', name: 'Sarah', type: 'human' }, { id: 'husam', name: 'Husam', type: 'human' }];
  let page = [];
  window.sent = [];
  // What a call is answered with; a test puts another in its place.
  window.answered = async () => null;
  const api = {
    get: async (path) => (path.includes('/runs') ? { items: [] } : { id: 's', name: 'S', seq: page.length, members }),
    messages: async (spaceId, { before }) => (before ? page : []),
    call: async (method, path, { body }) => {
      window.sent.push({ path, body });
      return window.answered(body);
    },
  };
  const speakers = new Speakers();
  const answers = new Answers(api, speakers);
  const timeline = new Timeline(() => {});
  const working = new Working(() => {});
  let room = null;
  const show = () => {
    if (!room) return;
    timeline.show(room, answers);
    working.show(room);
  };
  // Opens it anew, with what these frames hold as its last page.
  window.open = async (frames = []) => {
    page = frames.map((frame) => frame.message);
    room = null;
    room = await Room.open(api, 's', show);
    show();
  };
  document.getElementById('sign-in').hidden = true;
  document.getElementById('console').hidden = false;
  await window.open();

  // As the composer does it; the first who is a member is Sarah.
  window.speakAs = (id) => {
    speakers.choose(room.space, id);
    show();
  };
  window.hand = (...frames) => frames.forEach((frame) => room.handle({ spaceId: 's', ...frame }));
  const message = (seq, parts, more) => {
    const createdAt = new Date(Date.UTC(2026, 4, 1, 11, 0, seq)).toISOString();
    return { id: `m${seq}`, seq, rev: 1, sender: ada, parts, runId: 'r', streamId: null, dispatch: [], createdAt, ...more };
  };
  window.text = (seq, text, more = {}) => ({ type: 'message.created', message: message(seq, [{ type: 'text', text }], more) });
  window.stream = (streamId, text, more) => [
    { type: 'stream.started', streamId, callId: streamId, attempt: 1, sender: ada, ...more },
    { type: 'stream.delta', streamId, offset: 0, text },
  ];
  window.card = (seq, part, more = {}) => {
    const call = { type: 'tool', callId: `c${seq}`, name: 'ask', input: {}, output: null, status: 'pending', ui: 'form', resultSchema: null };
    return { type: 'message.updated', message: message(seq, [{ ...call, answerBy: 'humans', resolvedBy: null, expiresAt: null, ...part }], more) };
  };
}
