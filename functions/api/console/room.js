// One open space: combines what arrives over the WebSocket and over HTTP into one consistent state.

import { Messages } from './messages.js';
import { Runs } from './runs.js';
import { Streams } from './streams.js';

const PAGE = 50;
const LARGEST_PAGE = 200;
const LARGEST_GAP = 1000; // With a larger gap only the last page is loaded again.
const GAP_DELAY_MS = 300; // Time for a late message to arrive by itself before it is fetched.
const RETRY_MS = 3000;
const SETTLE_MS = 2000; // Time from the end of a stream to the message that replaces it.
const STOPPED_SETTLE_MS = 5000; // The same if its run was canceled: its worker notices that late.
// Time for a late piece to arrive, or in a small space the next snapshot, before one is asked for.
const SNAPSHOT_DELAY_MS = 1000;
const SNAPSHOT_SPREAD_MS = 500; // Everyone in a large space sees a gap at the same moment.
const SILENCE_MS = 60_000;
const SILENCE_CHECK_MS = 5000;

/** A space with its members, messages, streams and runs. */
export class Room {
  streams = new Streams();
  runs = new Runs();
  isGone = false;
  /**
   * Names by entity id. It is replaced when a name changes, so views can compare it by identity.
   */
  names = new Map();
  #api;
  #onChange;
  #askForSnapshot;
  #waitingForText = new Set();
  #timers = new Set();
  #filling = false;
  #isClosed = false;

  /**
   * Loads a space and its last page of messages. `onChange` is called whenever the state changes,
   * and `askForSnapshot` with the id of a stream of which a part is missing.
   */
  static async open(api, spaceId, onChange, askForSnapshot = () => {}) {
    const room = new Room(api, await api.get(pathOf(spaceId)), onChange, askForSnapshot);
    await room.loadEarlier();
    return room;
  }

  constructor(api, space, onChange, askForSnapshot) {
    this.#api = api;
    this.#onChange = onChange;
    this.#askForSnapshot = askForSnapshot;
    this.space = space;
    this.messages = new Messages(space.seq);
    this.#learnNames(space.members);
    this.#checkSilence();
  }

  /** The name of an entity, even after it has left. */
  nameOf(entityId) {
    return this.names.get(entityId) ?? 'Someone';
  }

  /** The last loaded seq. Live events are requested from there on. */
  lastSeq = () => this.messages.last;

  /** Loads the page before the oldest loaded message. */
  async loadEarlier() {
    if (!this.messages.hasEarlier) return;
    const page = await this.#api.messages(this.space.id, { before: this.messages.floor }, PAGE);
    this.messages.putEarlier(page);
    this.#putAll(page);
  }

  /** Fetches a message again, because it may have changed. */
  async refetch(seq) {
    this.#putAll(await this.#api.messages(this.space.id, { after: seq - 1 }, 1));
  }

  /** Handles a stored message, which may be truncated. */
  putMessage(message) {
    // A truncated text could be shorter than the streamed text, so the whole message is fetched
    // first.
    if (message.truncated) this.#fetchWhole(message);
    else this.#putAll([message]);
  }

  /** Handles a frame of the WebSocket. */
  handle(frame) {
    if (frame.spaceId !== undefined && frame.spaceId !== this.space.id) return;
    const [subject] = String(frame.type).split('.');
    if (frame.type === 'subscribed') this.#subscribed(frame);
    else if (frame.type === 'pong') this.#noteSeq(frame.spaces?.[this.space.id]);
    else if (subject === 'message') this.putMessage(frame.message);
    else if (subject === 'stream') this.#stream(frame);
    else if (subject === 'run' && frame.run) this.#run(frame.run);
    else if (subject === 'member' || subject === 'space') this.#membership(frame);
    else if (frame.type === 'unsubscribed' && frame.reason === 'removed') this.isGone = true;
    else return;
    this.#onChange();
  }

  /** Stops the timers. Later responses and frames are ignored. */
  close() {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #subscribed({ seq, active }) {
    if (seq - this.messages.last > LARGEST_GAP) {
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
    this.loadEarlier().catch(() => this.#after(RETRY_MS, () => this.#loadLastPage()));
  }

  // Loads what changed while the page was not subscribed: the space, failed runs and unfinished
  // messages.
  async #refresh() {
    const unfinished = this.messages.unfinished().slice(-PAGE);
    const [space, runs] = await Promise.all([
      this.#api.get(pathOf(this.space.id)),
      this.#api.get(`${pathOf(this.space.id)}/runs?limit=${PAGE}`),
    ]);
    if (this.#isClosed) return;
    this.#setSpace(space);
    // An older failure would appear above messages that are not loaded.
    const since = Date.parse(this.messages.ordered()[0]?.createdAt ?? 0);
    for (const run of runs.items)
      if (run.status === 'failed' && Date.parse(run.createdAt) >= since) this.runs.put(run);
    this.#onChange();
    for (const seq of unfinished) await this.refetch(seq);
  }

  #putAll(messages) {
    if (this.#isClosed) return;
    for (const message of messages) {
      this.messages.put(message);
      if (message.streamId) this.streams.close(message.streamId);
      if (!this.names.has(message.sender.id)) this.#learnNames([message.sender]);
    }
    this.#onChange();
    this.#fillSoon();
  }

  #fetchWhole(cut) {
    this.refetch(cut.seq).catch(() => {
      this.#putAll([cut]);
      this.#after(RETRY_MS, () => {
        // If it was replaced meanwhile, there is nothing to fetch.
        if (!this.isGone && this.messages.has(cut)) this.#fetchWhole(cut);
      });
    });
  }

  #noteSeq(seq) {
    if (seq === undefined) return;
    this.messages.noteSeq(seq);
    this.#fillSoon();
  }

  #fillSoon(delayMs = GAP_DELAY_MS) {
    if (this.#filling || this.#isClosed || this.messages.gap() === null) return;
    this.#filling = true;
    this.#after(delayMs, () => this.#fill());
  }

  async #fill() {
    let delayMs = GAP_DELAY_MS;
    const gap = this.messages.gap();
    try {
      const page =
        gap === null ? [] : await this.#api.messages(this.space.id, { after: gap }, LARGEST_PAGE);
      this.#putAll(page);
      if (page.length === 0) delayMs = RETRY_MS;
    } catch {
      delayMs = RETRY_MS;
    }
    this.#filling = false;
    this.#fillSoon(delayMs);
  }

  #stream(frame) {
    if (frame.type !== 'stream.ended') {
      this.streams.apply(frame, Date.now());
      this.#fillTextSoon(frame.streamId);
      // No message follows a frame that arrives after the end of its run.
      this.#settle(
        (stream) => stream.streamId === frame.streamId && this.runs.hasEnded(stream.runId),
      );
    } else if (frame.reason && !frame.messageId) {
      this.streams.close(frame.streamId);
    } else {
      this.#settle((stream) => stream.streamId === frame.streamId);
    }
  }

  // In a large space a snapshot comes only if it is asked for.
  #fillTextSoon(streamId) {
    if (this.#waitingForText.has(streamId) || !this.streams.hasGap(streamId)) return;
    this.#waitingForText.add(streamId);
    this.#after(SNAPSHOT_DELAY_MS + Math.random() * SNAPSHOT_SPREAD_MS, () => {
      this.#waitingForText.delete(streamId);
      if (!this.streams.hasGap(streamId)) return;
      this.#askForSnapshot(streamId);
      this.#fillTextSoon(streamId);
    });
  }

  #run(run) {
    this.runs.put(run);
    if (!this.runs.hasEnded(run.id)) return;
    const delayMs = run.status === 'canceled' ? STOPPED_SETTLE_MS : SETTLE_MS;
    this.#settle((stream) => stream.runId === run.id, delayMs);
  }

  // An ended stream stays until its message has arrived. It is dropped after a while if none came.
  #settle(test, delayMs = SETTLE_MS) {
    const ending = this.streams.ending(test);
    if (ending.length === 0) return;
    this.#after(delayMs, async () => {
      const page = await this.#api
        .messages(this.space.id, { after: this.messages.last }, LARGEST_PAGE)
        .catch(() => []);
      this.#putAll(page);
      for (const streamId of ending) this.streams.close(streamId);
      this.#onChange();
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
      this.#setSpace({
        ...this.space,
        members: members.filter((member) => member.id !== frame.entityId),
      });
    }
  }

  #setSpace(space) {
    this.space = space;
    this.#learnNames(space.members);
  }

  #learnNames(entities) {
    const changed = entities.filter(({ id, name }) => this.names.get(id) !== name);
    if (changed.length > 0)
      this.names = new Map([...this.names, ...changed.map(({ id, name }) => [id, name])]);
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
