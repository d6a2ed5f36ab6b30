// The WebSocket connection. It reconnects by itself and follows one space. room.js handles the
// frames.

const CONNECT_LIMIT_MS = 10_000;
const PING_EVERY_MS = 4 * 60_000; // API Gateway closes a connection that is silent for ten minutes.
const PONG_LIMIT_MS = 10_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;
const RESTARTING = 1012; // The close code of a server whose successor is there or comes at once.

/** The connection to the live events. */
export class Live {
  #api;
  #onFrame;
  #onStatus;
  #socket = null;
  #space = null;
  #tries = 0;
  #lastN = 0; // The frames about subscriptions are counted: an older one never undoes a newer one.
  #counts = true;
  #isStopped = false;
  #timers = new Map();

  /** `onFrame` gets every frame, `onStatus` one of `connecting`, `live`, `offline`. */
  constructor(api, onFrame, onStatus) {
    this.#api = api;
    this.#onFrame = onFrame;
    this.#onStatus = onStatus;
    addEventListener('online', this.#onWake);
    document.addEventListener('visibilitychange', this.#onWake);
    this.#connect();
  }

  /**
   * Follows this space instead of the previous one. After a reconnect, events resume after
   * `lastSeq()`.
   */
  follow(spaceId, lastSeq) {
    const before = this.#space;
    this.#space = { spaceId, lastSeq };
    if (before && before.spaceId !== spaceId)
      this.#send({ action: 'unsubscribe', spaceId: before.spaceId, n: this.#nextN() });
    this.#subscribe();
  }

  /** Asks for the whole text of a stream of the space. */
  askForSnapshot(streamId) {
    if (this.#space)
      this.#send({
        action: 'snapshot',
        id: 'snapshot',
        streamId,
        spaceId: this.#space.spaceId,
      });
  }

  /** Closes the connection for good. */
  stop() {
    this.#isStopped = true;
    removeEventListener('online', this.#onWake);
    document.removeEventListener('visibilitychange', this.#onWake);
    this.#disconnect();
  }

  // When the network returns or the page becomes visible, the connection is checked at once.
  #onWake = () => {
    if (document.visibilityState !== 'visible') return;
    if (this.#socket) this.#ping();
    else if (this.#timers.has('retry')) this.#connect();
  };

  async #connect() {
    this.#clear('retry');
    this.#onStatus('connecting');
    let socket;
    try {
      const ticket = await this.#api.call('POST', '/v1/socketTickets', { body: {} });
      if (this.#isStopped) return;
      socket = new WebSocket(ticket.url);
    } catch {
      if (!this.#isStopped) this.#retryLater();
      return;
    }
    this.#socket = socket;
    this.#schedule('connect', () => this.#lost(socket), CONNECT_LIMIT_MS);
    socket.onopen = () => {
      this.#clear('connect');
      this.#onStatus('live');
      this.#subscribe();
      this.#schedule('ping', () => this.#ping(), PING_EVERY_MS);
    };
    socket.onmessage = (event) => this.#received(socket, event.data);
    socket.onclose = () => this.#lost(socket);
  }

  #received(socket, data) {
    let frame;
    try {
      frame = JSON.parse(data);
    } catch {
      return;
    }
    if (frame.type === 'pong') this.#clear('pong');
    if (frame.type === 'subscribed') {
      this.#tries = 0;
      this.#onStatus('live');
    }
    if (frame.type === 'goodbye') this.#leave(socket, frame);
    else if (frame.type === 'error' && frame.status === 429) this.#refused(frame);
    // The stream may have ended, or an older server knows no snapshots. The message comes anyway.
    else if (frame.type === 'error' && frame.id === 'snapshot') return;
    // Any other failure to subscribe is retried later, over a new connection.
    else if (
      frame.type === 'error' &&
      frame.id === 'subscribe' &&
      ![403, 404].includes(frame.status)
    ) {
      // A server of an earlier version does not know the counter.
      if (frame.status === 422) this.#counts = false;
      this.#lost(socket);
    }
    else this.#onFrame(frame);
  }

  // The server refused a request for now. A ping comes again by itself.
  #refused({ id, retryAfter = 1 }) {
    this.#clear('pong');
    if (id !== 'subscribe') return;
    this.#onStatus('offline');
    this.#schedule('subscribe', () => this.#subscribe(), retryAfter * 1000);
  }

  // The server is about to close the connection. Each connection takes a ticket of its own, so an
  // expired one is followed by one with a new ticket.
  #leave(socket, { code, retryAfter = 0 }) {
    if (this.#socket !== socket) return;
    this.#disconnect();
    if (this.#isStopped) return;
    if (code === RESTARTING && this.#tries === 0) {
      this.#tries = 1;
      this.#connect();
    } else this.#retryLater(retryAfter * 1000);
  }

  #lost(socket) {
    if (this.#socket !== socket) return;
    this.#disconnect();
    if (!this.#isStopped) this.#retryLater();
  }

  #retryLater(leastMs = 0) {
    this.#onStatus('offline');
    const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#tries);
    this.#tries += 1;
    const delay = Math.max(leastMs, longest) * (0.5 + Math.random() / 2);
    this.#schedule('retry', () => this.#connect(), Math.max(leastMs, delay));
  }

  #disconnect() {
    for (const name of [...this.#timers.keys()]) this.#clear(name);
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #subscribe() {
    if (!this.#space) return;
    const { spaceId, lastSeq } = this.#space;
    const n = this.#nextN();
    this.#send({ action: 'subscribe', id: 'subscribe', spaceId, afterSeq: lastSeq(), n });
  }

  #nextN() {
    if (!this.#counts) return undefined;
    this.#lastN += 1;
    return this.#lastN;
  }

  #ping() {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    const spaces = this.#space ? { [this.#space.spaceId]: this.#space.lastSeq() } : {};
    this.#send({ action: 'ping', spaces });
    this.#schedule('pong', () => this.#lost(socket), PONG_LIMIT_MS);
    this.#schedule('ping', () => this.#ping(), PING_EVERY_MS);
  }

  #send(frame) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #schedule(name, act, delayMs) {
    this.#clear(name);
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      act();
    }, delayMs);
    this.#timers.set(name, timer);
  }

  #clear(name) {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }
}
