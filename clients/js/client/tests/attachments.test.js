// Files: how they are uploaded, sent with messages, and found again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { memoryStorage } from './model/network.js';
import { SARAH, deferred, message, openRoom } from './model/room.js';
import { openStorage } from './model/storage.js';

const PLAN = { name: 'plan.txt', type: 'text/plain', data: 'the plan' };
const sends = ({ space }) =>
  space.timeline.getSnapshot().items.flatMap(({ send }) => (send ? [send] : []));

/** Moves the clock. The platform hashes and reads files in other threads, which takes real time. */
async function pass({ clock }, lengthMs) {
  for (let passed = 0; passed < lengthMs; passed += 500) {
    await delay(2);
    await clock.advance(Math.min(500, lengthMs - passed));
  }
}

async function until(isTrue) {
  while (!isTrue()) await delay(2);
}

/** Uploads while the clock runs. */
async function attached({ room }, file = PLAN, options = {}) {
  const uploaded = room.space.attach(file, options);
  let isOver = false;
  uploaded.catch(() => {}).then(() => (isOver = true));
  while (!isOver) await pass(room, 500);
  return uploaded;
}

test('a file is announced, stored with the given headers, and checked', async () => {
  const storage = await openStorage();
  const parts = [];
  const found = await attached(storage, PLAN, { onProgress: (part) => parts.push(part) });
  const { id, name, contentType, bytes, status } = found;
  assert.deepEqual(
    { id, name, contentType, bytes, status },
    { id: 'att_1', name: 'plan.txt', contentType: 'text/plain', bytes: 8, status: 'ready' },
  );
  const [{ headers, credentials, method }] = storage.puts;
  // The platform sends the length itself. No credential goes to another origin.
  assert.deepEqual(headers, { 'content-type': 'text/plain' });
  assert.deepEqual([method, credentials, parts.at(-1)], ['PUT', 'omit', 1]);
});

test('lost answers are repeated at the same URL, and 412 says that it was stored', async () => {
  const storage = await openStorage();
  storage.statuses = [0, 503, 200];
  assert.equal((await attached(storage)).id, 'att_1');
  assert.equal(storage.puts.length, 3);

  const again = await openStorage();
  again.statuses = [0, 412];
  again.finding = { status: 'ready' };
  assert.equal((await attached(again)).id, 'att_1');
});

test('an upload whose URL has expired begins again', async () => {
  const storage = await openStorage();
  storage.statuses = [0, 403];
  assert.equal((await attached(storage)).id, 'att_2');
  assert.deepEqual(
    storage.puts.map(({ id }) => id),
    ['att_1', 'att_1', 'att_2'],
  );
  storage.statuses = Array(10).fill(403);
  await assert.rejects(attached(storage), { status: 403 });
});

test('an upload waits while another one of the file arrives', async () => {
  const storage = await openStorage();
  storage.statuses = [409, 409, 412];
  storage.finding = { status: 'ready' };
  assert.equal((await attached(storage)).id, 'att_1');
  storage.statuses = Array(10).fill(409);
  await assert.rejects(attached(storage), { status: 409 });
});

test('an upload without network fails after some tries', async () => {
  const storage = await openStorage();
  storage.statuses = Array(10).fill(0);
  await assert.rejects(attached(storage), { status: 0, isTemporary: true });
  assert.equal(storage.puts.length, 4);
});

test('a refused file rejects with the reason of the server', async () => {
  const storage = await openStorage();
  storage.finding = { status: 'refused', reason: 'The bytes are not those of a PNG.' };
  await assert.rejects(attached(storage), {
    status: 422,
    message: 'The bytes are not those of a PNG.',
  });

  storage.room.respond = ({ path }) =>
    path.endsWith('/attachments') && { status: 422, body: { detail: 'The type is refused.' } };
  await assert.rejects(attached(storage), { status: 422, message: 'The type is refused.' });
});

test('a file that is not checked yet is looked at again', async () => {
  const storage = await openStorage();
  storage.finding = { status: 'pending' };
  storage.room.clock.setTimeout(() => (storage.finding = null), 1000);
  assert.equal((await attached(storage)).status, 'ready');
  storage.finding = { status: 'pending' };
  await assert.rejects(attached(storage), /not checked/);
});

test('an empty file and a file that is too large are not announced', async () => {
  const storage = await openStorage();
  const large = { ...PLAN, data: new Uint8Array(20 * 1024 * 1024 + 1) };
  await assert.rejects(attached(storage, large), /larger than 20 MiB/);
  await assert.rejects(attached(storage, { ...PLAN, data: '' }), /is empty/);
  assert.equal(storage.files.size, 0);
});

test('names and types are as the server wants them', async () => {
  const storage = await openStorage();
  const announced = async (name, type) => {
    const found = await attached(storage, new File(['x'], name, { type }));
    return [found.name, found.contentType];
  };
  const cases = [
    ['notes.md', '', 'text/markdown'],
    ['table.CSV', 'application/vnd.ms-excel', 'text/csv'],
    ['voice.m4a', 'audio/x-m4a', 'audio/mp4'],
    ['voice', 'audio/webm;codecs=opus', 'audio/webm'],
    ['logo.svg', 'image/svg+xml', 'image/svg+xml'],
    ['what.is', '', 'application/octet-stream'],
  ];
  for (const [name, type, expected] of cases)
    assert.deepEqual(await announced(name, type), [name, expected]);
  const [long] = await announced(`${'é'.repeat(300)}\n.txt`, '');
  assert.deepEqual([long.length, long.slice(-6)], [255, 'é .txt']);
  assert.equal((await announced('a/b\\c.txt', ''))[0], 'a b c.txt');
  const [shown] = await announced('a\u200d\u202e\u2028\nb.txt', 'text/plain');
  assert.equal(shown, 'a    b.txt');
  assert.equal((await attached(storage, new Blob(['x'], { type: 'text/plain' }))).name, 'file');
});

test('three files are uploaded at once', async () => {
  const storage = await openStorage();
  const { room } = storage;
  const gate = deferred();
  storage.gate = gate.promise;
  const all = [1, 2, 3, 4, 5].map((number) => room.space.attach({ ...PLAN, name: `${number}` }));
  await until(() => storage.puts.length >= 3);
  await pass(room, 5000);
  assert.equal(storage.puts.length, 3);
  gate.resolve();
  assert.deepEqual(
    (await Promise.all(all)).map(({ name }) => name),
    ['1', '2', '3', '4', '5'],
  );
});

test('an upload can be canceled while it waits, runs, or is between two tries', async () => {
  const storage = await openStorage();
  const { room } = storage;
  const abort = new AbortController();
  const gate = deferred();
  storage.gate = gate.promise;
  const all = [1, 2, 3, 4].map(() => room.space.attach(PLAN, { signal: abort.signal }));
  await until(() => storage.puts.length >= 3);
  abort.abort(new Error('enough'));
  for (const each of all) await assert.rejects(each, /enough/);
  gate.resolve();
  await pass(room, 60_000);
  assert.equal(storage.puts.length, 3);
  // The next one finds a free place.
  assert.equal((await attached(storage)).status, 'ready');

  storage.statuses = [0, 0, 0, 0];
  const later = new AbortController();
  const waiting = assert.rejects(attached(storage, PLAN, { signal: later.signal }), /later/);
  room.clock.setTimeout(() => later.abort(new Error('later')), 700);
  await waiting;
  assert.ok(storage.puts.length < 8);
});

/** A browser's `XMLHttpRequest`, whose requests a test answers. */
function requestClass(requests) {
  return class {
    headers = {};
    status = 0;
    upload = {};
    constructor() {
      requests.push(this);
    }
    open(...given) {
      this.opened = given;
    }
    setRequestHeader(name, value) {
      this.headers[name] = value;
    }
    send(body) {
      this.body = body;
    }
    answer(status) {
      this.status = status;
      this.onloadend();
    }
    abort() {
      this.isAborted = true;
      this.answer(0);
    }
  };
}

test('a browser tells the progress, and ends an upload that stalls', async () => {
  const requests = [];
  const storage = await openStorage({ XMLHttpRequest: requestClass(requests) });
  const { room } = storage;
  storage.finding = { status: 'ready' };
  const parts = [];
  const uploaded = room.space.attach(PLAN, { onProgress: (part) => parts.push(part) });
  await until(() => requests.length > 0);
  await pass(room, 50_000);
  const [first] = requests;
  assert.deepEqual(first.opened, ['PUT', 'https://storage.example/att_1?signed']);
  assert.deepEqual(first.headers, { 'content-type': 'text/plain' });
  first.upload.onprogress({ loaded: 4 });
  await pass(room, 50_000);
  assert.equal(first.isAborted, undefined);
  await pass(room, 20_000);
  assert.equal(first.isAborted, true);
  requests[1].upload.onprogress({ loaded: 9 });
  requests[1].answer(200);
  await room.clock.advance(10);
  assert.equal((await uploaded).id, 'att_1');
  assert.deepEqual(parts, [0.5, 1, 1]);
});

/** A canvas that writes `written` instead of a picture. Only `writable` types can be written. */
function canvasWith({ width, height, drawn, writable = 'image/jpeg image/png image/webp' }) {
  return {
    createImageBitmap: async (data, options) => {
      if ((await data.text()).startsWith('<')) throw new Error('InvalidStateError');
      drawn.push(options);
      return { width, height, close: () => drawn.push('closed') };
    },
    OffscreenCanvas: class {
      constructor(...size) {
        drawn.push(size);
      }
      getContext = () => ({ drawImage: () => {} });
      convertToBlob = async ({ type }) =>
        new Blob(['written'], { type: writable.includes(type) ? type : 'image/png' });
    },
  };
}

test('a picture of a camera is drawn anew, unless the original is wanted', async () => {
  const drawn = [];
  const storage = await openStorage(canvasWith({ width: 4096, height: 3072, drawn }));
  const photo = { name: 'photo.jpg', type: 'image/jpeg', data: 'EXIF' };
  const textOf = ({ id }) => String(storage.files.get(id).stored);
  assert.equal(textOf(await attached(storage, photo)), 'written');
  assert.deepEqual(drawn, [{ imageOrientation: 'from-image' }, [2048, 1536], 'closed']);
  assert.equal(textOf(await attached(storage, photo, { original: true })), 'EXIF');
  const gif = { name: 'moving.gif', type: 'image/gif', data: 'GIF89a' };
  assert.equal(textOf(await attached(storage, gif)), 'GIF89a');
  const page = { name: 'page.png', type: 'image/png', data: '<html>' };
  await assert.rejects(attached(storage, page), /not a picture/);
});

test('a small picture keeps its size, and becomes PNG if its type can’t be written', async () => {
  const drawn = [];
  const canvas = canvasWith({ width: 30, height: 1, drawn, writable: 'image/jpeg' });
  const storage = await openStorage(canvas);
  const { name, contentType } = await attached(storage, {
    name: 'sketch.webp',
    type: 'image/webp',
    data: 'RIFF',
  });
  assert.deepEqual([name, contentType, drawn[1]], ['sketch.png', 'image/png', [30, 1]]);
});

test('a message with files shows them at once, and is posted with their ids', async () => {
  const storage = await openStorage();
  const { room } = storage;
  const found = await attached(storage);
  const posted = [];
  const respond = room.respond;
  room.respond = (call) => {
    if (call.method === 'POST' && call.path.endsWith('/messages'))
      posted.push(JSON.parse(call.body));
    return respond(call);
  };
  room.isDown = true;
  const sent = room.space.send('', { attachments: [found.id, found, 'att_9'] });
  await room.clock.advance(10);
  const file = { type: 'file', attachmentId: 'att_1', name: 'plan.txt' };
  const known = { ...file, contentType: 'text/plain', bytes: 8 };
  const unknown = { name: 'File', contentType: 'application/octet-stream', bytes: 0 };
  assert.deepEqual(sends(room)[0].files, [
    known,
    known,
    { type: 'file', attachmentId: 'att_9', ...unknown },
  ]);
  room.isDown = false;
  await room.clock.advance(30_000);
  assert.equal((await sent).parts[0].attachmentId, 'att_1');
  assert.deepEqual(posted, [{ text: '', attachments: ['att_1', 'att_1', 'att_9'] }]);
  assert.deepEqual(sends(room), []);
});

test('unsent files survive a reload, and a failed send keeps them', async () => {
  const storage = memoryStorage();
  const one = await openRoom(1, { storage, me: SARAH });
  one.isDown = true;
  one.space.send('look', { attachments: ['att_1'] }).catch(() => {});
  await one.clock.advance(10);
  const bodies = [];
  const refuse = ({ method, path, body }) => {
    if (method !== 'POST' || !path.endsWith('/messages')) return null;
    bodies.push(JSON.parse(body));
    return { status: 422, body: { detail: 'no' } };
  };
  const other = await openRoom(1, { storage, me: SARAH, respond: refuse });
  const [{ key, state, files }] = sends(other);
  assert.deepEqual([state, files[0].attachmentId], ['failed', 'att_1']);
  other.space.resend(key);
  await other.clock.advance(10);
  const body = { text: 'look', attachments: ['att_1'] };
  assert.deepEqual(bodies, [body, body]);
});

test('a send is recognized by its files in a message that arrives before the answer', async () => {
  const answer = deferred();
  const slow = ({ method, path }) =>
    method === 'POST' && path.endsWith('/messages') && { status: 200, body: answer.promise };
  const room = await openRoom(1, { me: SARAH, respond: slow });
  room.space.send('', { attachments: ['att_1'] }).catch(() => {});
  await room.clock.advance(10);
  const arrives = (seq, parts) =>
    room.frames({
      type: 'message.created',
      message: message(seq, '', { sender: SARAH.entity, parts }),
    });
  const file = (attachmentId) => ({ type: 'file', attachmentId });
  const text = { type: 'text', text: '' };
  for (const parts of [[file('att_2')], [text], [file('att_1'), file('att_2')], []]) {
    arrives(room.stored.length + 1, parts);
    room.store(message(room.stored.length + 1, '', { parts }));
    assert.equal(sends(room).length, 1);
  }
  arrives(room.stored.length + 1, [file('att_1')]);
  assert.equal(sends(room).length, 0);
});

test('the address of a file is asked for once, and again before it ends', async () => {
  const storage = await openStorage();
  const { clock, space } = storage.room;
  const { id } = await attached(storage);
  const looks = storage.looks;
  const first = await space.fileUrl(id);
  assert.equal(await space.fileUrl(id), first);
  assert.equal(storage.looks, looks);

  await clock.advance(14 * 60_000);
  const [one, other] = await Promise.all([space.fileUrl(id), space.fileUrl(id)]);
  assert.deepEqual([one, storage.looks], [other, looks + 1]);
  assert.notEqual(one, first);
  assert.notEqual(await space.fileUrl(id, { renew: true }), one);

  await assert.rejects(space.fileUrl('att_9'), { status: 404 });
  assert.equal((await space.attachment(id)).name, 'plan.txt');
});

test('a file that is not ready has no address', async () => {
  const storage = await openStorage();
  const { id } = await attached(storage);
  const other = await openStorage();
  other.files = storage.files;
  other.finding = { status: 'pending', url: null };
  await assert.rejects(other.room.space.fileUrl(id), /not uploaded/);
  other.finding = { status: 'refused', reason: 'It is no text.', url: null };
  await assert.rejects(other.room.space.fileUrl(id), /It is no text/);
});
