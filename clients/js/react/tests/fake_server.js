// A platform without network: a server with one space, a clock that only a test moves, and sockets
// whose frames a test delivers.

import { recorded } from '../../client/tests/model/recorded.js';

const AT = '2026-01-05T10:00:00Z';
export const SPACE_ID = 'spc_1';
const ANN = { id: 'ent_ann', name: 'Ann', type: 'human' };
const GUIDE = { id: 'ent_guide', name: 'Guide', type: 'agent' };

const messageAt = (seq) => ({
  id: `msg_${seq}`,
  spaceId: SPACE_ID,
  seq,
  rev: 1,
  sender: seq % 2 ? ANN : GUIDE,
  parts: [{ type: 'text', text: `Message ${seq}` }],
  runId: null,
  streamId: null,
  chainDepth: 0,
  origin: null,
  createdAt: AT,
  updatedAt: AT,
  dispatch: [],
});

/** The platform of a server that must not use it. */
export function forbiddenPlatform() {
  const refuse = (name) => () => {
    throw new Error(`${name} was used.`);
  };
  return {
    fetch: refuse('fetch'),
    WebSocket: refuse('WebSocket'),
    setTimeout: refuse('setTimeout'),
    listen: refuse('listen'),
    storage: null,
  };
}

const previewOf = (body) => {
  const { text, senderId } = JSON.parse(body);
  return { text, senderId };
};

/**
 * A space with `count` messages, and the parts of the platform for `createClient`. The first calls
 * of `/v1/me` get `meStatuses`. `waiting` are the items of the inbox, and
 * `mentioned` those of the mentions. A test answers searches.
 */
export function fakeServer({ count = 3, meStatuses = [], waiting = [], mentioned = [] } = {}) {
  const timers = new Map();
  let now = Date.parse(AT);
  let lastTimer = 0;
  const sockets = [];
  const calls = [];
  const previews = [];
  const searches = [];
  const revisions = [{ revision: 1 }];
  const messages = Array.from({ length: count }, (_, index) => messageAt(index + 1));
  const member = { role: 'member', readSeq: count, joinedAt: AT };
  const space = () => ({
    id: SPACE_ID,
    name: 'Kitchen',
    seq: messages.length,
    createdAt: AT,
    members: [ANN, GUIDE].map((entity) => ({ ...entity, ...member })),
  });

  let looks = 0;
  const attachment = () => ({
    id: 'att_1',
    status: 'ready',
    url: `https://storage.example/${(looks += 1)}`,
    urlExpiresAt: new Date(now + 15 * 60_000).toISOString(),
  });

  class FakeSocket {
    readyState = 0;
    constructor(url) {
      this.url = url;
      sockets.push(this);
      queueMicrotask(() => {
        if (this.readyState > 0) return;
        this.readyState = 1;
        this.onopen?.();
      });
    }
    send(text) {
      const { action, id, spaceId } = JSON.parse(text);
      const seq = messages.length;
      if (action === 'subscribe')
        this.deliver({ type: 'subscribed', id, spaceId, seq, from: null, active: [] });
      if (action === 'ping') this.deliver({ type: 'pong', id, spaces: {} });
    }
    deliver(frame) {
      const data = JSON.stringify(recorded(frame, { spaceId: SPACE_ID, at: AT }));
      queueMicrotask(() => this.onmessage?.({ data }));
    }
    close() {
      this.readyState = 3;
    }
  }

  function page(query) {
    const limit = Number(query.get('limit'));
    if (query.has('thread')) return messages.slice(0, 1);
    if (query.has('after'))
      return messages.filter(({ seq }) => seq > Number(query.get('after'))).slice(0, limit);
    return messages.filter(({ seq }) => seq < Number(query.get('before'))).slice(-limit);
  }

  function answer(method, { pathname, searchParams }) {
    if (pathname === '/v1/socketTickets') return { url: 'wss://fake.example' };
    if (pathname === '/v1/me') return { kind: 'entity', entity: ANN, spaces: 1, capabilities: [] };
    if (pathname === '/v1/spaces') return { items: [space()], nextCursor: null };
    if (pathname === '/v1/inbox') return { items: waiting, nextCursor: null };
    if (pathname === '/v1/mentions') return { items: mentioned, nextCursor: null };
    if (pathname === `/v1/spaces/${SPACE_ID}/pins`) return { items: [] };
    if (pathname.endsWith('/decision')) return { approvals: { given: 1, needed: 2 } };
    if (pathname === `/v1/spaces/${SPACE_ID}`) return space();
    if (pathname === `/v1/spaces/${SPACE_ID}/runs`) return { items: [], nextCursor: null };
    if (pathname === '/v1/agents/ent_guide/revisions') return { items: [...revisions] };
    if (pathname.endsWith('/restore')) {
      revisions.unshift({ revision: revisions.length + 1 });
      return { ...GUIDE, revision: revisions.length };
    }
    if (pathname === '/v1/runs/run_1')
      return { id: 'run_1', trigger: {}, activeSpaceId: null, status: 'completed' };
    if (pathname === `/v1/spaces/${SPACE_ID}/attachments/att_1`) return attachment();
    if (pathname === `/v1/spaces/${SPACE_ID}/messages` && method === 'GET')
      return { items: page(searchParams) };
    throw new Error(`The fake server has no ${method} ${pathname}.`);
  }

  async function fetch(url, { method, body, signal }) {
    const address = new URL(url);
    const { pathname } = address;
    calls.push(`${method} ${pathname}`);
    const isGone = pathname.endsWith('/att_gone') || pathname.endsWith('/revisions/9/restore');
    const status = isGone ? 404 : pathname === '/v1/me' ? (meStatuses.shift() ?? 200) : 200;
    const ok = status === 200;
    const respond = (found) => ({ status, ok, headers: new Headers(), json: async () => found });
    if (isGone) return respond({ detail: 'It does not exist.' });
    const isSearch = pathname === '/v1/search';
    if (!isSearch && !pathname.endsWith('/preview')) return respond(answer(method, address));
    // A test answers it, or the client cancels it.
    return new Promise((resolve, reject) => {
      const asked = isSearch ? Object.fromEntries(address.searchParams) : previewOf(body);
      asked.isAborted = false;
      asked.answer = (found) => resolve(respond(isSearch ? found : { dispatch: found }));
      asked.refuse = (detail) => resolve({ ...respond({ detail }), status: 422, ok: false });
      (isSearch ? searches : previews).push(asked);
      signal.addEventListener('abort', () => {
        asked.isAborted = true;
        reject(signal.reason);
      });
    });
  }

  return {
    /** The open sockets. */
    open: () => sockets.filter(({ readyState }) => readyState < 3),
    /** All sockets that were ever made. */
    sockets,
    /** All calls, such as `GET /v1/me`. */
    calls,
    /** The calls of the preview: `text`, `senderId`, `isAborted`, and `answer(dispatch)`. */
    previews,
    /** The calls of searches: their parameters, `isAborted`, `answer(found)`, `refuse(detail)`. */
    searches,
    /** Sends a frame of the space to every open socket. */
    deliver(frame) {
      for (const socket of sockets) socket.deliver(frame);
    },
    /** Sends a frame that is not among the recorded ones. */
    raw(frame) {
      for (const socket of sockets) socket.onmessage?.({ data: JSON.stringify(frame) });
    },
    /** Adds a message, and tells of it. */
    post() {
      const message = messageAt(messages.length + 1);
      messages.push(message);
      this.deliver({ type: 'message.created', message });
    },
    /** Moves the clock, and calls what is due. */
    advance(ms) {
      now += ms;
      for (const [timer, { at, act }] of [...timers]) if (at <= now && timers.delete(timer)) act();
    },
    environment: {
      fetch,
      WebSocket: FakeSocket,
      storage: null,
      now: () => now,
      setTimeout(act, ms) {
        timers.set((lastTimer += 1), { at: now + ms, act });
        return lastTimer;
      },
      clearTimeout: (timer) => timers.delete(timer),
      random: () => 0.5,
      isHidden: () => false,
      listen: () => () => {},
    },
  };
}
