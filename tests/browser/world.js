// What a test needs in the product before the browser opens: people, scripted agents, spaces. Made over HTTP as the operator.

import { setTimeout as delay } from 'node:timers/promises';

/** Calls one product's API. */
export class World {
  constructor({ base, adminKey }) {
    this.base = base;
    this.adminKey = adminKey;
  }

  /** A person. */
  person(name) {
    return this.#call('POST', '/v1/entities', { type: 'human', name });
  }

  /** An agent that plays `rules` and takes `wordDelayMs` for a word. */
  agent(name, rules, wordDelayMs = 0) {
    const model = { provider: 'scripted', name: 'browser-tests', script: { wordDelayMs, rules } };
    return this.#call('POST', '/v1/entities', { type: 'agent', name, agent: { description: `${name} of the browser tests`, model } });
  }

  /** A space of these entities. */
  space(name, members, settings = {}) {
    return this.#call('POST', '/v1/spaces', { name, members: members.map(({ id }) => id), ...settings });
  }

  /** A message; the kept one. */
  say(space, sender, text) {
    return this.#call('POST', `/v1/spaces/${space.id}/messages`, { text, senderId: sender.id });
  }

  /** The last messages of a space, oldest first. */
  async messages(space) {
    const { seq } = await this.#call('GET', `/v1/spaces/${space.id}`);
    return (await this.#call('GET', `/v1/spaces/${space.id}/messages?before=${seq + 1}&limit=200`)).items;
  }

  // A space takes only so many messages a second; a test that makes many waits as it is told.
  async #call(method, path, body, key = crypto.randomUUID()) {
    const headers = { authorization: `Bearer ${this.adminKey}`, 'content-type': 'application/json', 'idempotency-key': key };
    const response = await fetch(this.base + path, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(10_000) });
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    const waitSeconds = Number(response.headers.get('retry-after'));
    if (![429, 503].includes(response.status) || !(waitSeconds <= 5)) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    await delay(Math.max(waitSeconds, 0.1) * 1000);
    return this.#call(method, path, body, key);
  }
}

/** A rule that answers what people say with these texts, each a message of its own. */
export const answers = (...texts) => ({
  when: { trigger: 'space_message', sender: 'human' },
  steps: texts.map((text) => ({ calls: [{ tool: 'send_message', input: { text } }] })),
});
