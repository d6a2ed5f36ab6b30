// A client with one open space and a server of a few lines, whose frames and faults a test decides.

import { createClient } from '../../dist/index.js';
import { Clock } from './clock.js';

export const ADA = { id: 'ada', name: 'Ada', type: 'agent' };

/** A message of Ada. */
export function message(seq, text, more = {}) {
  const createdAt = new Date(Date.UTC(2026, 0, 1, 0, seq)).toISOString();
  const parts = [{ type: 'text', text }];
  const rest = { runId: null, streamId: null, dispatch: [], createdAt };
  return { id: `m${seq}`, seq, rev: 1, sender: ADA, parts, ...rest, ...more };
}

/** A room with the messages `text 1` to `text {count}`. */
export async function openRoom(count) {
  const room = new Room(count);
  for (const store of [room.space, room.space.timeline, room.space.runs])
    store.subscribe(() => store.getSnapshot());
  await room.clock.advance(100);
  room.requests.length = 0;
  return room;
}

class Room {
  clock = new Clock();
  stored = [];
  runs = [];
  /** The `after` or `before` of the calls that asked for messages. */
  requests = [];
  /** The frames that the client sent. */
  sent = [];
  isDown = false;
  #socket = null;

  constructor(count) {
    for (let seq = 1; seq <= count; seq += 1) this.store(message(seq, `text ${seq}`));
    const room = this;
    const environment = {
      storage: null,
      random: () => 0.5,
      now: () => this.clock.now,
      setTimeout: this.clock.setTimeout,
      clearTimeout: this.clock.clearTimeout,
      isHidden: () => false,
      listen: () => () => {},
      fetch: async (path) => {
        if (this.isDown) throw new TypeError('fetch failed');
        const json = async () => this.#answer(path);
        return { status: 200, ok: true, headers: new Headers(), json };
      },
      WebSocket: class {
        readyState = 0;
        constructor() {
          room.#socket = this;
          room.clock.setTimeout(() => {
            this.readyState = 1;
            this.onopen();
          }, 1);
        }
        send(text) {
          const frame = JSON.parse(text);
          room.sent.push(frame);
          const { action, id } = frame;
          const seq = room.stored.length;
          const reply = (answer) => room.clock.setTimeout(() => room.frames(answer), 1);
          if (action === 'subscribe')
            reply({ type: 'subscribed', id, seq, from: null, active: [] });
          if (action === 'ping') reply({ type: 'pong', spaceId: undefined, spaces: {} });
        }
        close() {}
      },
    };
    this.client = createClient({ url: '', token: 'token', environment });
    this.space = this.client.space('s');
  }

  store(...messages) {
    this.stored.push(...messages);
  }

  /** Delivers frames. */
  frames(...frames) {
    for (const frame of frames)
      this.#socket.onmessage({ data: JSON.stringify({ spaceId: 's', at: '', ...frame }) });
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

  #answer(path) {
    const { pathname, searchParams } = new URL(path, 'http://server');
    const seq = this.stored.length;
    const members = [{ ...ADA, role: 'member', readSeq: 0 }];
    if (pathname === '/v1/me') return { kind: 'operator', entity: null, capabilities: ['operate'] };
    if (pathname === '/v1/socketTickets') return { url: 'ws://server' };
    if (pathname.endsWith('/runs')) return { items: this.runs, nextCursor: null };
    if (!pathname.endsWith('/messages')) return { id: 's', name: 'S', seq, members };
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
