// One opened space: takes what comes over the socket and over HTTP, and keeps both true to the space's one order.

import { Messages } from './messages.js';
import { Runs } from './runs.js';
import { Streams } from './streams.js';

const PAGE = 50;
const LARGEST_PAGE = 200;
const TOO_FAR_BEHIND = 1000; // beyond it the page starts anew at the end
const GAP_PATIENCE_MS = 300; // a message that is merely late arrives by itself
const RETRY_MS = 3000;
const SETTLE_MS = 2000; // between the end of a stream and the message that replaces it
const SILENCE_MS = 60_000;
const SILENCE_CHECK_MS = 5000;

/** A space as it is shown: its members, messages, streams and runs. */
export class Room {
  streams = new Streams();
  runs = new Runs();
  isGone = false;
  /** Names by entity id; another map whenever one changes, so that it can be compared. */
  names = new Map();
  #api;
  #changed;
  #timers = new Set();
  #filling = false;
  #isClosed = false;

  /** Loads a space and the last page of its messages; `changed` is called whenever there is something else to show. */
  static async open(api, spaceId, changed) {
    const room = new Room(api, await api.get(pathOf(spaceId)), changed);
    await room.earlier();
    return room;
  }

  constructor(api, space, changed) {
    this.#api = api;
    this.#changed = changed;
    this.space = space;
    this.messages = new Messages(space.seq);
    this.#learnNames(space.members);
    this.#checkSilence();
  }

  /** What an entity is called, also once it has left. */
  nameOf(entityId) {
    return this.names.get(entityId) ?? 'Someone';
  }

  /** The last seq that is held: live events are asked for from there. */
  lastSeq = () => this.messages.last;

  /** Loads the page before what is held. */
  async earlier() {
    if (!this.messages.hasEarlier) return;
    const page = await this.#api.messages(this.space.id, { before: this.messages.floor }, PAGE);
    this.messages.putEarlier(page);
    this.#keepAll(page);
  }

  /** Fetches a message again that may have changed. */
  async again(seq) {
    this.#keepAll(await this.#api.messages(this.space.id, { after: seq - 1 }, 1));
  }

  /** Takes a kept message, whole or cut. */
  take(message) {
    // A cut text would first shrink what had streamed: the whole is fetched before anything is shown.
    if (message.truncated) this.#fetchWhole(message);
    else this.#keepAll([message]);
  }

  /** Takes a frame of the socket. */
  handle(frame) {
    if (frame.spaceId !== undefined && frame.spaceId !== this.space.id) return;
    const [subject] = String(frame.type).split('.');
    if (frame.type === 'subscribed') this.#subscribed(frame);
    else if (frame.type === 'pong') this.#noteSeq(frame.spaces?.[this.space.id]);
    else if (subject === 'message') this.take(frame.message);
    else if (subject === 'stream') this.#stream(frame);
    else if (subject === 'run') this.#run(frame.run);
    else if (subject === 'member' || subject === 'space') this.#membership(frame);
    else if (frame.type === 'unsubscribed' && frame.reason === 'removed') this.isGone = true;
    else return;
    this.#changed();
  }

  /** Ends its timers; what still arrives is ignored. */
  close() {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #subscribed({ seq, active }) {
    if (seq - this.messages.last > TOO_FAR_BEHIND) {
      this.messages = new Messages(seq);
      this.#loadLastPage();
    } else {
      this.#noteSeq(seq);
    }
    this.runs.replaceActive(active);
    const working = new Set(active.map(({ runId }) => runId));
    this.#settle((stream) => stream.runId !== undefined && !working.has(stream.runId));
    this.#refresh().catch(() => this.#after(RETRY_MS, () => this.#refresh().catch(() => {})));
  }

  #loadLastPage() {
    this.earlier().catch(() => this.#after(RETRY_MS, () => this.#loadLastPage()));
  }

  // What changed while nobody listened, also since it was loaded: members and settings, failed runs, and messages held as unfinished.
  async #refresh() {
    const again = this.messages.unfinished().slice(-PAGE);
    const [space, runs] = await Promise.all([this.#api.get(pathOf(this.space.id)), this.#api.get(`${pathOf(this.space.id)}/runs?limit=${PAGE}`)]);
    if (this.#isClosed) return;
    this.#setSpace(space);
    // Older failures would stand above messages that are not loaded.
    const since = Date.parse(this.messages.ordered()[0]?.createdAt ?? 0);
    for (const run of runs.items) if (run.status === 'failed' && Date.parse(run.createdAt) >= since) this.runs.put(run);
    this.#changed();
    for (const seq of again) await this.again(seq);
  }

  #keepAll(messages) {
    if (this.#isClosed) return;
    for (const message of messages) {
      this.messages.put(message);
      if (message.streamId) this.streams.close(message.streamId);
      if (!this.names.has(message.sender.id)) this.#learnNames([message.sender]);
    }
    this.#changed();
    this.#fillSoon();
  }

  #fetchWhole(cut) {
    this.again(cut.seq).catch(() => {
      this.#keepAll([cut]);
      this.#after(RETRY_MS, () => {
        // What took its place is whole, or asks for itself.
        if (!this.isGone && this.messages.has(cut)) this.#fetchWhole(cut);
      });
    });
  }

  #noteSeq(seq) {
    if (seq === undefined) return;
    this.messages.note(seq);
    this.#fillSoon();
  }

  #fillSoon(delayMs = GAP_PATIENCE_MS) {
    if (this.#filling || this.#isClosed || this.messages.gap() === null) return;
    this.#filling = true;
    this.#after(delayMs, () => this.#fill());
  }

  async #fill() {
    let delayMs = GAP_PATIENCE_MS;
    const gap = this.messages.gap();
    try {
      const page = gap === null ? [] : await this.#api.messages(this.space.id, { after: gap }, LARGEST_PAGE);
      this.#keepAll(page);
      if (page.length === 0) delayMs = RETRY_MS;
    } catch {
      delayMs = RETRY_MS;
    }
    this.#filling = false;
    this.#fillSoon(delayMs);
  }

  #stream(frame) {
    if (frame.type !== 'stream.ended') {
      this.streams.take(frame, Date.now());
      // A frame that came after its run's end has nothing behind it.
      this.#settle((stream) => stream.streamId === frame.streamId && this.runs.hasEnded(stream.runId));
    } else if (frame.reason) {
      this.streams.close(frame.streamId);
    } else {
      this.#settle((stream) => stream.streamId === frame.streamId);
    }
  }

  #run(run) {
    this.runs.put(run);
    if (this.runs.hasEnded(run.id)) this.#settle((stream) => stream.runId === run.id);
  }

  // A stream that is over keeps its place until its message is here; one that no message replaced is dropped then.
  #settle(test) {
    const ending = this.streams.ending(test);
    if (ending.length === 0) return;
    this.#after(SETTLE_MS, async () => {
      const page = await this.#api.messages(this.space.id, { after: this.messages.last }, LARGEST_PAGE).catch(() => []);
      this.#keepAll(page);
      for (const streamId of ending) this.streams.close(streamId);
      this.#changed();
    });
  }

  #checkSilence() {
    const limit = Date.now() - SILENCE_MS;
    this.#settle((stream) => stream.heardAt < limit);
    this.#after(SILENCE_CHECK_MS, () => this.#checkSilence());
  }

  #membership(frame) {
    const { members } = this.space;
    if (frame.type === 'space.deleted') this.isGone = true;
    if (frame.type === 'space.updated') this.#setSpace({ ...this.space, ...frame.space });
    if (frame.type === 'member.joined') {
      const others = members.filter((member) => member.id !== frame.member.id);
      this.#setSpace({ ...this.space, members: [...others, frame.member] });
    }
    if (frame.type === 'member.left') {
      this.#setSpace({ ...this.space, members: members.filter((member) => member.id !== frame.entityId) });
    }
  }

  #setSpace(space) {
    this.space = space;
    this.#learnNames(space.members);
  }

  #learnNames(entities) {
    const news = entities.filter(({ id, name }) => this.names.get(id) !== name);
    if (news.length > 0) this.names = new Map([...this.names, ...news.map(({ id, name }) => [id, name])]);
  }

  #after(delayMs, act) {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, delayMs);
    this.#timers.add(timer);
  }
}

const pathOf = (spaceId) => `/v1/spaces/${encodeURIComponent(spaceId)}`;
