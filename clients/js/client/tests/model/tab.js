// One browser tab: a client with an open space, and what must hold at every moment.

import assert from 'node:assert/strict';
import { SPACE } from './server.js';

export class Tab {
  isClosed = false;
  sent = [];
  states = [];
  #shown = new Set();
  #live = new Set();
  #lost = new Map();

  /**
   * `createClient` is that of the library, and `storage` is shared by all tabs. A tab may show only
   * the list of spaces.
   */
  constructor(createClient, { clock, random, network, server, storage }, { isListOnly } = {}) {
    this.server = server;
    const tab = this;
    const sockets = new Set();
    const guarded =
      (act) =>
      (...values) =>
        this.isClosed ? undefined : act(...values);
    this.client = createClient({
      url: 'http://server',
      token: 'token',
      environment: {
        storage,
        random,
        now: () => clock.now,
        setTimeout: (act, delayMs) => clock.setTimeout(guarded(act), delayMs),
        clearTimeout: clock.clearTimeout,
        isHidden: () => false,
        listen: (act) => {
          this.signal = act;
          return () => {};
        },
        fetch: (...request) => (this.isClosed ? new Promise(() => {}) : network.fetch(...request)),
        WebSocket: class extends network.WebSocket {
          constructor(...given) {
            super(...given);
            sockets.add(this);
            if (tab.isClosed) this.close();
          }
        },
      },
    });
    this.#sockets = sockets;
    this.space = this.client.space(SPACE);
    const { timeline, runs, forms, members, presence } = this.space;
    const beside = [this.space.thread(1), this.space.pins];
    const shown = isListOnly ? [] : [timeline, runs, forms, members, presence, ...beside];
    for (const store of [...shown, this.client.spaces, this.client.inbox])
      store.subscribe(() => store.getSnapshot());
    if (isListOnly) return;
    timeline.subscribe(
      guarded(() => {
        try {
          this.#check();
        } catch (error) {
          this.failure ??= error;
        }
      }),
    );
    this.client.connection.subscribe(
      guarded(() => this.states.push(this.client.connection.getSnapshot().state)),
    );
  }

  #sockets;

  /** Sends a message. A failure is one of the test. */
  send(text) {
    this.sent.push(text);
    this.space.send(text).catch((error) => (this.failure ??= error));
  }

  /** Closes the tab without a word, as a reload does. */
  close() {
    this.isClosed = true;
    for (const socket of this.#sockets) socket.close();
  }

  items() {
    return this.space.timeline.getSnapshot().items;
  }

  // Called after each change of the timeline.
  #check() {
    const items = this.items();
    const keys = new Set(items.map(({ key }) => key));
    assert.equal(keys.size, items.length, 'a key appears twice');
    const messages = items.flatMap((item) => (item.type === 'message' ? [item.message] : []));
    const ids = new Set(messages.map(({ id }) => id));
    assert.equal(ids.size, messages.length, 'a message is shown twice');
    for (let index = 1; index < messages.length; index += 1)
      assert.ok(messages[index - 1].seq < messages[index].seq, 'messages are out of order');
    for (const key of this.#shown) assert.ok(keys.has(key), `${key} has disappeared`);
    for (const key of this.#live) if (!keys.has(key)) this.#lost.set(key, true);
    // Whose `stream.started` was lost shows no call, until a message or silence ends it.
    const known = new Set(items.flatMap(({ key, stream }) => (stream?.runId ? [key] : [])));
    for (const key of known)
      assert.ok(!known.has(this.server.laterTries.get(key)), 'two tries of a call are shown');
    for (const { type, key } of items) {
      if (type === 'message' || type === 'pending') this.#shown.add(key);
      if (type === 'live') this.#live.add(key);
    }
  }

  /** Streams that vanished for a moment although a message took their place. */
  flickers(server) {
    const replaced = new Set(server.messages.map(({ streamId }) => streamId));
    return [...this.#lost.keys()].filter((key) => replaced.has(key));
  }
}
