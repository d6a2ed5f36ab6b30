// The storage of files behind a room: announces, stores and checks them, as a test decides.

import { createHash } from 'node:crypto';
import { SARAH, openRoom } from './room.js';

const PATH = '/v1/spaces/s/attachments';
const URL_LIFE_MS = 15 * 60_000;

/** A room of Sarah with a storage. `parts` are those of `openRoom`. */
export async function openStorage(parts = {}) {
  const storage = new FileStorage();
  const room = await openRoom(1, { me: SARAH, respond: storage.respond, ...parts });
  room.onPut = storage.put;
  storage.room = room;
  return storage;
}

class FileStorage {
  /** The attachments by their ids, with what was announced. */
  files = new Map();
  /** The requests that stored bytes. */
  puts = [];
  /** How many addresses of files were asked for. */
  looks = 0;
  /** The status of each request that stores bytes, in order. 0: no answer. Then it is 200. */
  statuses = [];
  /** What the check of a file finds, instead of comparing its bytes. */
  finding = null;

  respond = ({ method, path, body }) => {
    if (path === PATH) return { status: 201, body: this.#announce(JSON.parse(body)) };
    if (method !== 'GET' || !path.startsWith(PATH)) return null;
    const file = this.files.get(path.slice(PATH.length + 1));
    this.looks += 1;
    if (!file) return { status: 404, body: { detail: 'There is no such attachment.' } };
    return { status: 200, body: this.#described(file) };
  };

  #announce(announced) {
    const id = `att_${this.files.size + 1}`;
    this.files.set(id, { id, ...announced });
    const headers = { 'content-type': announced.contentType, 'Content-Length': announced.bytes };
    const uploadUrl = `https://storage.example/${id}?signed`;
    return { attachmentId: id, uploadUrl, headers, expiresAt: '' };
  }

  #described(file) {
    const { bytes, sha256, stored } = file;
    const isRight =
      stored?.length === bytes && createHash('sha256').update(stored).digest('hex') === sha256;
    const status = !stored ? 'pending' : isRight ? 'ready' : 'refused';
    const isReady = (this.finding?.status ?? status) === 'ready';
    return {
      ...{ ...file, stored: undefined },
      spaceId: 's',
      status,
      createdAt: '2026-01-01T00:00:00Z',
      url: isReady ? `https://storage.example/${file.id}?get=${this.looks}` : null,
      urlExpiresAt: isReady ? new Date(this.room.clock.now + URL_LIFE_MS).toISOString() : null,
      ...this.finding,
    };
  }

  put = async ({ path, headers, body, ...rest }) => {
    const id = /att_\d+/.exec(path)[0];
    this.puts.push({ id, headers, ...rest });
    await this.gate;
    rest.signal.throwIfAborted();
    const status = this.statuses.shift() ?? 200;
    if (status === 0) throw new TypeError('fetch failed');
    if (status === 200) this.files.get(id).stored = Buffer.from(await body.arrayBuffer());
    return { status };
  };
}
