// The WebSocket side: a connection that comes back by itself and follows one space. What frames mean is the room's matter.

const CONNECT_LIMIT_MS = 10_000;
const PING_EVERY_MS = 4 * 60_000; // the far end closes what is silent for ten minutes
const PONG_LIMIT_MS = 10_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;

/** Keeps a connection to the live events. */
export class Live {
  #api;
  #onFrame;
  #onStatus;
  #socket = null;
  #followed = null;
  #tries = 0;
  #stopped = false;
  #timers = new Map();

  /** `onFrame` gets every frame, `onStatus` one of `connecting`, `live`, `offline`. */
  constructor(api, onFrame, onStatus) {
    this.#api = api;
    this.#onFrame = onFrame;
    this.#onStatus = onStatus;
    addEventListener('online', this.#wake);
    document.addEventListener('visibilitychange', this.#wake);
    this.#connect();
  }

  /** Follows this space instead of the one before; `lastSeq` says what is already held, also after a break. */
  follow(spaceId, lastSeq) {
    const before = this.#followed;
    this.#followed = { spaceId, lastSeq };
    if (before && before.spaceId !== spaceId) this.#send({ action: 'unsubscribe', spaceId: before.spaceId });
    this.#subscribe();
  }

  /** Ends it for good. */
  stop() {
    this.#stopped = true;
    removeEventListener('online', this.#wake);
    document.removeEventListener('visibilitychange', this.#wake);
    this.#letGo();
  }

  // A network that returned, or a page that is looked at again: ask at once instead of waiting for a timer.
  #wake = () => {
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
      if (this.#stopped) return;
      socket = new WebSocket(ticket.url);
    } catch {
      if (!this.#stopped) this.#retryLater();
      return;
    }
    this.#socket = socket;
    this.#set('connect', () => this.#lost(socket), CONNECT_LIMIT_MS);
    socket.onopen = () => {
      this.#clear('connect');
      this.#onStatus('live');
      this.#subscribe();
      this.#set('ping', () => this.#ping(), PING_EVERY_MS);
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
    if (frame.type === 'subscribed') this.#tries = 0;
    // A space that can't be followed just now is asked for again over a new connection, after a while.
    if (frame.type === 'error' && frame.id === 'subscribe' && ![403, 404].includes(frame.status)) this.#lost(socket);
    else this.#onFrame(frame);
  }

  #lost(socket) {
    if (this.#socket !== socket) return;
    this.#letGo();
    if (!this.#stopped) this.#retryLater();
  }

  #retryLater() {
    this.#onStatus('offline');
    const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#tries);
    this.#tries += 1;
    this.#set('retry', () => this.#connect(), longest * (0.5 + Math.random() / 2));
  }

  #letGo() {
    for (const name of [...this.#timers.keys()]) this.#clear(name);
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #subscribe() {
    if (!this.#followed) return;
    const { spaceId, lastSeq } = this.#followed;
    this.#send({ action: 'subscribe', id: 'subscribe', spaceId, afterSeq: lastSeq() });
  }

  #ping() {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    const spaces = this.#followed ? { [this.#followed.spaceId]: this.#followed.lastSeq() } : {};
    this.#send({ action: 'ping', spaces });
    this.#set('pong', () => this.#lost(socket), PONG_LIMIT_MS);
    this.#set('ping', () => this.#ping(), PING_EVERY_MS);
  }

  #send(frame) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #set(name, act, delayMs) {
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
