// A client with one open space and a server of a few lines, whose frames and faults a test decides.

import { createClient } from './library.js';
import { Clock } from './clock.js';
import { recorded } from './recorded.js';

export const ADA = { id: 'ada', name: 'Ada', type: 'agent' };

/** A message of Ada. */
export function message(seq, text, more = {}) {
  const createdAt = new Date(Date.UTC(2026, 0, 1, 0, seq)).toISOString();
  const parts = [{ type: 'text', text }];
  const rest = { runId: null, streamId: null, dispatch: [], createdAt };
  return { id: `m${seq}`, seq, rev: 1, sender: ADA, parts, ...rest, ...more };
}

/** A room with the messages `text 1` to `text {count}`. `parts` replace those of the client. */
export async function openRoom(count, parts = {}) {
  const room = new Room(count, parts);
  room.enter();
  await room.clock.advance(100);
  room.requests.length = 0;
  return room;
}

class Room {
  clock = new Clock();
  stored = [];
  runs = [];
  /** The items of the inbox. */
  waiting = [];
  /** The `after` or `before` of the calls that asked for messages. */
  requests = [];
  /** The frames that the client sent. */
  sent = [];
  isDown = false;
  /** Who the caller is. */
  me = { kind: 'operator', entity: null, capabilities: ['operate'] };
  /** The calls, as `GET /v1/me`. */
  calls = [];
  /**
   * Answers a call instead of the server: `{status, body, headers}` or a promise of it, or null to
   * leave it to it.
   */
  respond = () => null;
  /** The answer to a `subscribe` frame on a socket instead of the server's. */
  onSubscribe = undefined;
  /** Whether a ping on a socket is answered. */
  onPing = () => true;
  /** Answers a request to the storage: `{status}`. */
  onPut = async () => ({ status: 200 });
  /** The sockets that were opened, oldest first. */
  sockets = [];
  #leaving = [];

  constructor(count, { token = 'token', presence, me, respond, storage = null, ...parts }) {
    this.me = me ?? this.me;
    this.respond = respond ?? this.respond;
    for (let seq = 1; seq <= count; seq += 1) this.store(message(seq, `text ${seq}`));
    const room = this;
    const environment = {
      storage,
      random: () => 0.5,
      now: () => this.clock.now,
      setTimeout: this.clock.setTimeout,
      clearTimeout: this.clock.clearTimeout,
      isHidden: () => false,
      listen: () => () => {},
      fetch: async (path, request) => {
        if (this.isDown) throw new TypeError('fetch failed');
        const { method, headers, body } = request;
        if (method === 'PUT' && !path.startsWith('/v1/')) return this.onPut({ path, ...request });
        this.calls.push(`${method} ${path.split('?')[0]}`);
        const call = { method, path, token: headers.authorization.slice(7), body };
        const {
          status,
          body: answer,
          headers: given,
        } = (await this.respond(call)) || {
          status: 200,
          body: this.#answer(path, method, body && JSON.parse(body)),
        };
        return { status, ok: status < 300, headers: new Headers(given), json: async () => answer };
      },
      WebSocket: class {
        readyState = 0;
        constructor() {
          room.sockets.push(this);
          room.clock.setTimeout(() => {
            this.readyState = 1;
            this.onopen();
          }, 1);
        }
        sent = [];
        send(text) {
          const frame = JSON.parse(text);
          room.sent.push(frame);
          this.sent.push(frame);
          const { action, id } = frame;
          const seq = room.stored.length;
          const reply = (answer) => room.clock.setTimeout(() => deliver(this, answer), 1);
          const subscribed = { type: 'subscribed', id, seq, from: null, active: [] };
          const answer = room.onSubscribe ? room.onSubscribe(frame, this) : subscribed;
          if (action === 'subscribe' && answer) reply(answer);
          if (action === 'ping' && room.onPing(this)) reply({ type: 'pong', spaces: {} });
        }
        close() {
          this.readyState = 3;
        }
      },
      ...parts,
    };
    this.client = createClient({ url: '', token, presence, environment });
    this.space = this.client.space('s');
  }

  /** Follows the space. */
  enter() {
    const { timeline, runs, presence } = this.space;
    const followed = [this.space, timeline, runs, presence];
    this.#leaving = followed.map((store) => store.subscribe(() => store.getSnapshot()));
  }

  leave() {
    for (const stop of this.#leaving) stop();
  }

  store(...messages) {
    this.stored.push(...messages);
  }

  /** How many sockets were opened. */
  get connects() {
    return this.sockets.length;
  }

  /** Delivers frames over the newest socket. */
  frames(...frames) {
    for (const frame of frames) deliver(this.sockets.at(-1), frame);
  }

  /** Delivers what may be no frame. */
  raw(data) {
    this.sockets.at(-1).onmessage({ data });
  }

  /** The texts from top to bottom. One that is being written ends with a bar. */
  texts() {
    const textOf = (item) => {
      if (item.type === 'message') return [item.message.parts[0].text];
      if (item.type === 'failed') return [`${item.run.error.message} (${item.run.error.code})`];
      if (item.type !== 'live') return [];
      return [`${this.space.stream(item.stream.streamId).getSnapshot().text}|`];
    };
    return this.space.timeline.getSnapshot().items.flatMap(textOf);
  }

  activeRuns() {
    return this.space.runs.getSnapshot().active.map(({ runId, status }) => `${runId} ${status}`);
  }

  #answer(path, method, body) {
    const { pathname, searchParams } = new URL(path, 'http://server');
    const seq = this.stored.length;
    const own = this.me.entity ? [{ ...this.me.entity, role: 'member', readSeq: 0 }] : [];
    const members = [{ ...ADA, role: 'member', readSeq: 0 }, ...own];
    if (pathname === '/v1/me') return this.me;
    if (pathname === '/v1/socketTickets') return { url: 'ws://server' };
    if (pathname === '/v1/inbox') return { items: this.waiting, nextCursor: null };
    if (pathname.endsWith('/runs')) return { items: this.runs, nextCursor: null };
    if (!pathname.endsWith('/messages')) return { id: 's', name: 'S', seq, members };
    if (method === 'POST') {
      const files = (body.attachments ?? []).map((attachmentId) => ({
        type: 'file',
        attachmentId,
      }));
      const parts = [...(body.text ? [{ type: 'text', text: body.text }] : []), ...files];
      this.store(message(seq + 1, body.text, { sender: this.me.entity ?? ADA, parts }));
      return this.stored.at(-1);
    }
    const [after, before] = [searchParams.get('after'), searchParams.get('before')];
    const limit = Number(searchParams.get('limit'));
    this.requests.push(Number(after ?? before));
    const items =
      after === null
        ? this.stored.filter((each) => each.seq < before).slice(-limit)
        : this.stored.filter((each) => each.seq > after).slice(0, limit);
    return { items };
  }
}

/** Delivers a frame over a socket. */
export const deliver = (socket, frame) =>
  socket.onmessage?.({ data: JSON.stringify(recorded(frame, { spaceId: 's', at: '' })) });

/** A person. */
export const SARAH = { kind: 'entity', entity: { id: 'sarah', name: 'Sarah', type: 'human' } };

/** A space as the list of spaces shows it. */
export const listed = (seq, id = 's') => ({
  id,
  name: 'S',
  seq,
  createdAt: '2026-01-01T00:00:00Z',
  me: { readSeq: 0, unread: 0 },
  members: [ADA, SARAH.entity].map((each) => ({ ...each, role: 'member', readSeq: 0 })),
});

/** A promise that the test settles. */
export function deferred() {
  let settlers;
  const promise = new Promise((resolve, reject) => (settlers = { resolve, reject }));
  return { promise, ...settlers };
}
