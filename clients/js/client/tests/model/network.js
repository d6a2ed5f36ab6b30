// The network between clients and the server, with its faults.

import { recorded } from './recorded.js';

const OPEN = 1;

/**
 * Faults are switched on and off by the test:
 * - `loss`: the part of frames that is lost, `doubles` that comes twice, `spreadMs` how far frames
 *   overtake each other.
 * - `isFrozen`: nothing is answered until it ends. `isDown`: nobody can connect or call.
 * - `errors`: the part of calls that fails, before or after they took effect.
 */
export class Network {
  loss = 0;
  doubles = 0;
  spreadMs = 0;
  errors = 0;
  isDown = false;
  #isFrozen = false;
  #held = [];

  constructor(clock, random, server) {
    this.clock = clock;
    this.random = random;
    this.server = server;
    const network = this;
    /** The class of sockets of this network. */
    this.WebSocket = class {
      readyState = 0;
      isSubscribed = false;
      lastN = 0;
      constructor() {
        network.#connect(this);
      }
      send(data) {
        network.#later(() => {
          if (this.readyState === OPEN) server.receive(this, JSON.parse(data));
        });
      }
      close() {
        this.readyState = 3;
        server.sockets.delete(this);
        network.onClose?.();
      }
      deliver(frame) {
        network.#deliver(this, JSON.stringify(frame));
      }
    };
  }

  fetch = async (address, { method, headers, body, signal }) => {
    const aborted = new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(new Error('aborted'))),
    );
    aborted.catch(() => {});
    await Promise.race([this.#arrival(), aborted]);
    const { errors, random } = this;
    if (this.isDown || random.chance(errors / 3)) throw new TypeError('fetch failed');
    if (random.chance(errors / 3))
      return respond(503, { title: 'Unavailable' }, { 'retry-after': '1' });
    const path = address.replace('http://server', '');
    const answer = this.server.answer(
      method,
      path,
      body && JSON.parse(body),
      headers['idempotency-key'],
    );
    // Events may overtake an answer.
    const overtaken = this.clock.delay(random() * Math.min(this.spreadMs, 400)).then(this.#arrival);
    await Promise.race([overtaken, aborted]);
    if (this.isDown || random.chance(errors / 3)) throw new TypeError('the response was lost');
    return respond(answer.status === 409 ? 409 : 200, answer);
  };

  /** Cuts all connections. With a goodbye, the server restarts. */
  cut(goodbye) {
    for (const socket of [...this.server.sockets]) {
      if (goodbye)
        socket.onmessage?.({ data: JSON.stringify(recorded({ type: 'goodbye', ...goodbye })) });
      socket.close();
      socket.onclose?.({});
    }
  }

  set isFrozen(isFrozen) {
    this.#isFrozen = isFrozen;
    if (isFrozen) return;
    const held = this.#held;
    this.#held = [];
    for (const act of held) act();
  }

  #connect(socket) {
    this.#later(() => {
      if (socket.readyState !== 0) return;
      if (this.isDown) {
        socket.readyState = 3;
        socket.onclose?.({});
        return;
      }
      socket.readyState = OPEN;
      this.server.sockets.add(socket);
      socket.onopen?.({});
    });
  }

  #deliver(socket, data) {
    const { random } = this;
    if (random.chance(this.loss)) return;
    for (let copies = random.chance(this.doubles) ? 2 : 1; copies > 0; copies -= 1) {
      const arrive = () => {
        if (socket.readyState === OPEN) socket.onmessage?.({ data });
      };
      if (this.spreadMs > 0)
        this.clock.setTimeout(() => this.#unlessFrozen(arrive), random() * this.spreadMs);
      else this.#later(arrive);
    }
  }

  #arrival = () => new Promise((resume) => this.#later(resume));

  // Frames of one connection keep their order, as TCP keeps it.
  #later(act) {
    this.clock.setTimeout(() => this.#unlessFrozen(act), 15);
  }

  #unlessFrozen(act) {
    if (this.#isFrozen) this.#held.push(act);
    else act();
  }
}

function respond(status, body, headers = {}) {
  return {
    status,
    ok: status < 300,
    headers: new Headers(headers),
    json: async () => JSON.parse(JSON.stringify(body)),
  };
}

/** A storage that several tabs share. */
export function memoryStorage() {
  const values = new Map();
  return {
    get length() {
      return values.size;
    },
    values: () => values.values(),
    key: (index) => [...values.keys()][index] ?? null,
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
    removeItem: (name) => void values.delete(name),
  };
}
