// A deployment with one space that several sockets follow: what is stored, what HTTP answers, and
// the frames that the server sends. It makes no faults; network.js does.

import { recorded } from './recorded.js';

const AGENT = { id: 'ent_ada', name: 'Ada', type: 'agent' };
const OTHER = { id: 'ent_sarah', name: 'Sarah', type: 'human' };
export const ME = { id: 'ent_husam', name: 'Husam', type: 'human' };
export const SPACE = 'spc_1';
const EXPIRES_AT = '2030-01-01T00:00:00Z';

export class Server {
  messages = [];
  runs = new Map();
  streams = new Map();
  sockets = new Set();
  // By seq.
  reactions = new Map();
  pins = [];
  // The next try of the call of a stream, by the stream's id.
  laterTries = new Map();
  name = 'Harbour';
  #clock;
  #reads = new Map([ME, OTHER, AGENT].map(({ id }) => [id, 0]));
  #posted = new Map();
  #lastId = 0;

  constructor(clock) {
    this.#clock = clock;
  }

  // What happens.

  /** A message of another person. */
  say(text) {
    return this.#append(OTHER, [{ type: 'text', text }]);
  }

  /** Stores a message and starts a run for it, or leaves its dispatch open for `decide`. */
  post(sender, text, isDecided = true, clientKey = undefined) {
    const more = { dispatch: undefined, clientKey };
    const message = this.#append(sender, [{ type: 'text', text }], more);
    if (isDecided) this.decide(message.seq);
    return this.messages[message.seq - 1];
  }

  /** A message of another person that replies to another message. */
  reply(seq, text) {
    const { id, sender, thread = seq } = this.messages[seq - 1];
    const replyTo = { seq, messageId: id, senderId: sender.id };
    return this.#append(OTHER, [{ type: 'text', text }], { replyTo, thread });
  }

  edit(seq, text) {
    const { parts, deleted } = this.messages[seq - 1];
    if (deleted || parts[0]?.type !== 'text') return false;
    this.#update(seq, { parts: [{ type: 'text', text }], editedAt: this.#at() });
    return true;
  }

  /** Deletes a message, unless it is a card or deleted already. */
  remove(seq) {
    const { parts, deleted } = this.messages[seq - 1];
    if (deleted || parts[0]?.type !== 'text') return false;
    const { mentions, editedAt, ...others } = this.messages[seq - 1];
    this.messages[seq - 1] = others;
    this.reactions.delete(seq);
    this.#update(seq, { parts: [], deleted: { at: this.#at(), by: 'sender' } });
    if (this.pins.includes(seq)) this.pin(seq, false);
    return true;
  }

  react(seq, entityId, emoji, on) {
    const { id: messageId, deleted } = this.messages[seq - 1];
    if (deleted) return null;
    const { reactions = [], reactionsRev = 0 } = this.reactions.get(seq) ?? {};
    const known = new Map(reactions.map((each) => [each.emoji, each.entityIds]));
    const others = (known.get(emoji) ?? []).filter((id) => id !== entityId);
    known.set(emoji, on ? [...others, entityId] : others);
    const next = [...known].flatMap(([each, entityIds]) =>
      entityIds.length > 0 ? { emoji: each, count: entityIds.length, entityIds } : [],
    );
    const item = { messageId, seq, reactions: next, reactionsRev: reactionsRev + 1 };
    this.reactions.set(seq, { reactions: next, reactionsRev: reactionsRev + 1 });
    this.#send({ type: 'reactions', items: [item] });
    return item;
  }

  pin(seq, on) {
    if (on && this.messages[seq - 1].deleted) return false;
    const others = this.pins.filter((each) => each !== seq);
    this.pins = on ? [...others, seq] : others;
    this.#send({ type: 'space.updated', space: { ...this.space(), me: null } });
    return true;
  }

  /** A message as HTTP and replays show it: with its reactions, which live frames lack here. */
  shown = (message) => {
    const { reactions, reactionsRev } = this.reactions.get(message.seq) ?? {};
    if (!reactionsRev) return message;
    return { ...message, ...(reactions.length > 0 && { reactions }), reactionsRev };
  };

  /** The parent of a reply as HTTP shows it. */
  parentOf({ replyTo }) {
    const { id, seq, sender, parts, deleted } = this.messages[replyTo.seq - 1];
    const text = parts[0]?.text ?? parts[0]?.name ?? '';
    return { seq, messageId: id, sender, text, ...(deleted && { deleted }) };
  }

  decide(seq) {
    const message = this.messages[seq - 1];
    if (message.dispatch || message.deleted) return;
    const run = this.#startRun(message);
    this.#update(seq, { dispatch: [{ agentId: AGENT.id, runId: run.id, source: 'auto' }] });
  }

  undecided() {
    return this.messages
      .filter(({ dispatch, deleted }) => !dispatch && !deleted)
      .map(({ seq }) => seq);
  }

  activeRuns() {
    return [...this.runs.values()].filter(({ status }) => !isEnded(status));
  }

  claim(runId) {
    this.#changeRun(runId, 'run.started', { status: 'running' });
  }

  /** Begins a stream of a run; or the next try of the call of another stream. */
  stream(runId, { attempt = 0, callId = this.#id('cal'), streamId: before } = {}) {
    const streamId = this.#id('str');
    if (before) this.laterTries.set(before, streamId);
    attempt += 1;
    this.streams.set(streamId, { streamId, runId, callId, attempt, text: '' });
    const about = { streamId, runId, callId, attempt, sender: AGENT, kind: 'message' };
    this.#send({ type: 'stream.started', ...about });
    return this.streams.get(streamId);
  }

  write(streamId, text) {
    const stream = this.streams.get(streamId);
    this.#send({ type: 'stream.delta', streamId, offset: stream.text.length, text });
    stream.text += text;
  }

  snapshot(streamId) {
    const stream = this.streams.get(streamId);
    if (stream) this.#send({ type: 'stream.snapshot', streamId, text: stream.text });
  }

  /** The message of a stream replaces it. */
  finishStream(streamId) {
    const { runId, text } = this.streams.get(streamId);
    this.streams.delete(streamId);
    const { id } = this.#append(AGENT, [{ type: 'text', text }], { runId, streamId });
    this.#send({ type: 'stream.ended', streamId, messageId: id });
  }

  dropStream(streamId, reason) {
    this.streams.delete(streamId);
    if (reason) this.#send({ type: 'stream.ended', streamId, reason });
  }

  /** A run asks people. */
  ask(runId) {
    const callId = this.#id('cal');
    const part = { type: 'tool', callId, name: 'approve', input: { title: callId }, output: null };
    const form = { ui: 'form', resultSchema: {}, answerBy: 'humans', expiresAt: EXPIRES_AT };
    this.#append(AGENT, [{ ...part, ...form, status: 'pending', resolvedBy: null }], { runId });
    const { stepCount } = this.runs.get(runId);
    this.#changeRun(runId, 'run.waiting_tool', {
      status: 'waiting_tool',
      stepCount: stepCount + 1,
    });
  }

  forms() {
    return this.messages.flatMap(({ seq, runId, parts: [part] }) =>
      part?.type === 'tool' && part.status === 'pending'
        ? [{ seq, runId, callId: part.callId }]
        : [],
    );
  }

  resolve(callId, by) {
    const form = this.forms().find((each) => each.callId === callId);
    if (!form) return false;
    const { seq, runId } = form;
    const [part] = this.messages[seq - 1].parts;
    this.#update(seq, { parts: [{ ...part, status: 'completed', output: {}, resolvedBy: by }] });
    this.#changeRun(runId, 'run.resumed', { status: 'running' });
    return true;
  }

  end(runId, status) {
    for (const { streamId, runId: of } of this.streams.values())
      if (of === runId) this.dropStream(streamId, 'canceled');
    for (const { seq, runId: of, callId } of this.forms())
      if (of === runId) {
        const [part] = this.messages[seq - 1].parts;
        this.#update(seq, { parts: [{ ...part, status: 'canceled' }] }, callId);
      }
    const error = status === 'failed' ? { code: 'internal', message: 'It broke.' } : null;
    const endReason = { completed: 'done', canceled: 'cancel' }[status] ?? null;
    const finishedAt = this.#at();
    this.#changeRun(runId, `run.${status}`, { status, finishedAt, error, endReason });
  }

  rename(name) {
    this.name = name;
    this.#send({ type: 'space.updated', space: { ...this.space(), me: null } });
  }

  // What HTTP answers.

  space() {
    const members = [ME, OTHER, AGENT].map((entity) => ({
      ...entity,
      role: 'member',
      readSeq: this.#reads.get(entity.id),
      joinedAt: '2026-05-01T10:00:00Z',
    }));
    const seq = this.messages.length;
    const readSeq = this.#reads.get(ME.id);
    const createdAt = '2026-05-01T10:00:00Z';
    return {
      id: SPACE,
      name: this.name,
      seq,
      members,
      createdAt,
      cards: this.#cardsUpTo(seq),
      me: {
        readSeq,
        readCards: this.#cardsUpTo(readSeq),
        unread: seq - readSeq - (this.#cardsUpTo(seq) - this.#cardsUpTo(readSeq)),
      },
      ...(this.pins.length > 0 && { pins: this.pins }),
    };
  }

  #cardsUpTo(seq) {
    const isCard = ({ parts }) => parts.some(({ type }) => type === 'tool');
    return this.messages.filter((each) => each.seq <= seq && isCard(each)).length;
  }

  answer(method, path, body, key) {
    const url = new URL(path, 'http://server');
    const query = (name) => Number(url.searchParams.get(name));
    const route = `${method} ${url.pathname.replace(SPACE, '*')}`;
    switch (route) {
      case 'GET /v1/me':
        return { kind: 'entity', entity: ME, spaces: { count: 1 }, capabilities: [] };
      case 'GET /v1/spaces':
        return { items: [this.space()], nextCursor: null };
      case 'GET /v1/inbox':
        return { items: this.forms(), nextCursor: null };
      case 'GET /v1/spaces/*':
        return this.space();
      case 'GET /v1/mentions':
        return { items: [], nextCursor: null };
      case 'GET /v1/spaces/*/pins':
        return {
          items: this.pins.map((seq) => ({
            message: this.shown(this.messages[seq - 1]),
            pinnedBy: ME,
            pinnedAt: this.#at(),
          })),
        };
      case 'GET /v1/spaces/*/messages': {
        if (url.searchParams.has('thread')) {
          const first = query('thread');
          const items = this.messages.filter(
            ({ seq, thread }) => seq === first || thread === first,
          );
          return { items: items.map(this.shown), parents: [], nextCursor: null };
        }
        const before = query('before') || Infinity;
        const found = this.messages.filter(({ seq }) => seq > query('after') && seq < before);
        const limit = query('limit');
        const items = url.searchParams.has('before') ? found.slice(-limit) : found.slice(0, limit);
        const parents = items
          .filter(({ replyTo }) => replyTo && !items.some(({ seq }) => seq === replyTo.seq))
          .map((message) => this.parentOf(message));
        return { items: items.map(this.shown), parents, nextCursor: null };
      }
      case 'GET /v1/spaces/*/runs':
        return {
          items: [...this.runs.values()].reverse().slice(0, query('limit')),
          nextCursor: null,
        };
      case 'POST /v1/spaces/*/messages': {
        const stored = this.#posted.get(key) ?? this.post(ME, body.text, true, key).id;
        this.#posted.set(key, stored);
        return this.shown(this.messages.find(({ id }) => id === stored));
      }
      case 'PUT /v1/spaces/*/read':
        this.#read(ME.id, body.seq);
        return { entityId: ME.id, seq: body.seq };
      case 'POST /v1/socketTickets':
        return { url: 'ws://server' };
      default: {
        const change = this.#changeMessage(route, body);
        if (change !== undefined) return change;
        const [, runId, callId] = /^POST \/v1\/runs\/(.*)\/toolCalls\/(.*)\/result$/.exec(route);
        return this.resolve(callId, ME.id)
          ? { runId, callId }
          : { status: 409, detail: 'resolved' };
      }
    }
  }

  // Edits, deletions, reactions and pins; undefined for another route.
  #changeMessage(route, body) {
    const [, method, kind, number, more] =
      /^([A-Z]+) \/v1\/spaces\/\*\/(messages|pins)\/(\d+)(\/reactions)?$/.exec(route) ?? [];
    const seq = Number(number);
    const refused = { status: 409, detail: 'the message was deleted' };
    if (kind === 'pins') return this.pin(seq, method === 'PUT') ? null : refused;
    if (more) return this.react(seq, ME.id, body.emoji, body.on) ?? refused;
    if (method === 'GET') return this.shown(this.messages[seq - 1]);
    if (method === 'PATCH')
      return this.edit(seq, body.text) ? this.shown(this.messages[seq - 1]) : refused;
    if (method !== 'DELETE') return undefined;
    this.remove(seq);
    return null;
  }

  // What a socket asks.

  receive(socket, { action, id, spaceId, afterSeq, n, spaces, streamId }) {
    const reply = (frame) =>
      socket.deliver(recorded({ ...frame, ...(id !== undefined && { id }) }));
    if (action === 'ping') {
      const isAhead = ([, seq]) => this.messages.length > seq;
      const ahead = Object.entries(spaces ?? {}).filter(isAhead);
      reply({
        type: 'pong',
        spaces: Object.fromEntries(ahead.map(([id]) => [id, this.messages.length])),
      });
    } else if (action === 'subscribe' || action === 'unsubscribe') {
      // A frame that another one has overtaken has no effect.
      if (n > socket.lastN) {
        socket.lastN = n;
        socket.isSubscribed = action === 'subscribe';
      }
      if (!socket.isSubscribed) return reply({ type: 'unsubscribed', spaceId });
      const missed = afterSeq === undefined ? [] : this.messages.slice(afterSeq).slice(-200);
      const active = this.activeRuns().map(({ id, agentId, status }) => ({
        runId: id,
        agentId,
        status,
      }));
      const seq = this.messages.length;
      reply({ type: 'subscribed', spaceId, seq, from: missed[0]?.seq ?? null, active });
      // No other frame brings the reactions to what is replayed.
      for (const message of missed)
        socket.deliver(this.#frame({ type: 'message.created', message: this.shown(message) }));
    } else if (action === 'snapshot') {
      reply({ type: 'accepted', streamId });
      const stream = this.streams.get(streamId);
      if (stream)
        socket.deliver(this.#frame({ type: 'stream.snapshot', streamId, text: stream.text }));
    }
    return undefined;
  }

  #append(sender, parts, more = {}) {
    const seq = this.messages.length + 1;
    const createdAt = this.#at();
    const stored = { id: this.#id('msg'), spaceId: SPACE, seq, rev: 1, sender, parts, createdAt };
    const begun = { ...stored, runId: null, streamId: null, dispatch: [], ...more };
    if (sender.type === 'human') this.#reads.set(sender.id, seq);
    return this.#store('message.created', begun);
  }

  #update(seq, more) {
    const before = this.messages[seq - 1];
    this.#store('message.updated', { ...before, ...more, rev: before.rev + 1 });
  }

  // HTTP answers with what the frames have.
  #store(type, given) {
    const frame = this.#frame({ type, message: given });
    const { message } = frame;
    this.messages[message.seq - 1] = message;
    this.#deliver(frame);
    return message;
  }

  #startRun({ id, seq }) {
    const trigger = { type: 'space_message', messageId: id, seq, source: 'auto' };
    const run = { id: this.#id('run'), agentId: AGENT.id, status: 'queued', stepCount: 0, trigger };
    this.runs.set(run.id, { ...run, createdAt: this.#at(), finishedAt: null, error: null });
    return run;
  }

  #changeRun(runId, type, more) {
    const run = { ...this.runs.get(runId), ...more };
    this.runs.set(runId, run);
    this.#send({ type, run });
  }

  #read(entityId, seq) {
    if (seq <= this.#reads.get(entityId)) return;
    this.#reads.set(entityId, seq);
    this.#send({ type: 'space.read', entityId, seq });
  }

  #send(event) {
    this.#deliver(this.#frame(event));
  }

  #deliver(frame) {
    for (const socket of this.sockets) if (socket.isSubscribed) socket.deliver(frame);
  }

  #frame = (event) => recorded(event, { spaceId: SPACE, at: this.#at() });
  #at = () => new Date(this.#clock.now).toISOString();

  #id(kind) {
    this.#lastId += 1;
    return `${kind}_${this.#lastId}`;
  }
}

export const isEnded = (status) => ['completed', 'failed', 'canceled'].includes(status);
