// The fake server inside the page: its WebSocket, its answers, and the frames that tests deliver.

/** Runs in the page before its own scripts. */
export function makeServer() {
  const frame = window.requestAnimationFrame.bind(window);
  const drawn = () => new Promise((resume) => frame(() => frame(resume)));
  const ada = { id: 'ada', name: 'Ada', type: 'agent' };
  const people = [
    { id: 'sarah', name: 'Sarah', type: 'human' },
    { id: 'husam', name: 'Husam', type: 'human' },
  ];
  let members = [ada, ...people].map((each) => ({
    ...each,
    role: 'member',
    readSeq: 0,
  }));
  const pages = new Map();
  let current = null;
  let socket = null;
  let subscribed = () => {};
  window.sent = [];
  // The list of spaces and the items of the inbox.
  window.listed = [];
  window.waiting = [];
  // The caller, and what a search finds. A test may replace it.
  window.me = { kind: 'operator', entity: null, capabilities: ['operate'] };
  window.find = () => ({ items: [], searched: null, incomplete: false, nextCursor: null });
  // The streams of which the page asked for a snapshot.
  window.snapshots = [];
  // The response to a call. A test may replace it.
  window.respond = async () => null;
  /** Refuses a call. With the status 0 no response comes. */
  window.refuse = (status, body = {}) => {
    throw { status, body };
  };

  const spaceOf = (id) => {
    const createdAt = '2026-05-01T10:00:00Z';
    return {
      id,
      name: 'S',
      seq: pages.get(id)?.at(-1)?.seq ?? 0,
      members,
      triggerPolicy: 'all',
      createdAt,
      ...window.listed.find((each) => each.id === id),
    };
  };
  const reads = (path) => {
    const { pathname, searchParams } = new URL(path, location.origin);
    if (pathname === '/v1/me') return window.me;
    if (pathname === '/v1/search') return window.find(searchParams);
    if (pathname === '/v1/mentions') return { items: [], nextCursor: null };
    if (pathname === '/v1/spaces') return { items: window.listed, nextCursor: null };
    if (pathname === '/v1/entities') return { items: [], nextCursor: null };
    if (pathname === '/v1/inbox') return { items: window.waiting, nextCursor: null };
    const [, id, list] = /^\/v1\/spaces\/([^/]+)\/?(.*)$/.exec(pathname);
    if (list === '') return spaceOf(id);
    if (list !== 'messages' || searchParams.has('after')) return { items: [], nextCursor: null };
    const before = Number(searchParams.get('before'));
    const items = (pages.get(id) ?? []).filter(({ seq }) => seq < before);
    return { items: items.slice(-Number(searchParams.get('limit'))) };
  };
  window.answer = async (method, path, body) => {
    try {
      if (method === 'GET') return [200, await reads(path)];
      if (path === '/v1/socketTickets') return [200, { url: 'ws://fake.example/' }];
      // The page marks by itself what has been seen, at any time.
      if (path.endsWith('/read')) return [200, null];
      window.sent.push({ path, body });
      return [200, await window.respond(body)];
    } catch (error) {
      if (!('status' in error)) throw error;
      return [error.status, error.body];
    }
  };

  window.WebSocket = class {
    readyState = 0;
    constructor() {
      socket = this;
      queueMicrotask(() => {
        this.readyState = 1;
        this.onopen();
      });
    }
    send(text) {
      const { action, spaceId, streamId, id } = JSON.parse(text);
      if (action === 'snapshot') window.snapshots.push(streamId);
      if (action === 'ping') this.tell({ type: 'pong', spaces: {} });
      if (action !== 'subscribe') return;
      const { seq } = spaceOf(spaceId);
      this.tell({
        type: 'subscribed',
        id,
        spaceId,
        seq,
        from: null,
        active: [],
      });
      subscribed(spaceId);
    }
    tell(frame) {
      queueMicrotask(() => this.onmessage?.({ data: JSON.stringify(frame) }));
    }
    close() {}
  };

  // Opens a new room. The messages of these frames are its last page.
  window.open = async (frames = []) => {
    current = `s${pages.size}`;
    pages.set(
      current,
      frames.map((each) => each.message),
    );
    const done = new Promise((resume) => {
      subscribed = (id) => id === current && resume();
    });
    location.hash = `#/s/${current}`;
    await done;
    await drawn();
    if (document.getElementById('sender')?.value === '') window.sendAs('sarah');
    await drawn();
  };
  // Selects the sender. `open` selects Sarah, the first person.
  window.sendAs = (id) => {
    const menu = document.getElementById('sender');
    menu.value = id;
    menu.dispatchEvent(new Event('change', { bubbles: true }));
  };
  window.deliver = async (...frames) => {
    for (const each of frames) {
      const data = { spaceId: current, at: new Date().toISOString(), ...each };
      const id = each.member?.id ?? each.entityId;
      if (each.type.startsWith('member.')) members = members.filter((member) => member.id !== id);
      if (each.type === 'member.joined') members = [...members, each.member];
      socket.onmessage({ data: JSON.stringify(data) });
    }
    await drawn();
  };
  const message = (seq, parts, more) => {
    const createdAt = new Date(Date.UTC(2026, 4, 1, 11, 0, seq)).toISOString();
    const rest = { runId: 'r', streamId: null, dispatch: [], createdAt };
    return { id: `m${seq}`, seq, rev: 1, sender: ada, parts, ...rest, ...more };
  };
  window.text = (seq, text, more = {}) => ({
    type: 'message.created',
    message: message(seq, [{ type: 'text', text }], more),
  });
  window.stream = (streamId, text, more) => [
    {
      type: 'stream.started',
      streamId,
      callId: streamId,
      attempt: 1,
      sender: ada,
      ...more,
    },
    { type: 'stream.delta', streamId, offset: 0, text },
  ];
  window.card = (seq, part, more = {}) => {
    const call = {
      type: 'tool',
      callId: `c${seq}`,
      name: 'ask',
      input: {},
      output: null,
    };
    const form = {
      status: 'pending',
      ui: 'form',
      resultSchema: null,
      answerBy: 'humans',
    };
    const parts = [{ ...call, ...form, resolvedBy: null, expiresAt: null, ...part }];
    return { type: 'message.updated', message: message(seq, parts, more) };
  };
}
