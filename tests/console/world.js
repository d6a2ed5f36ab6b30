// What a test needs in the product beside the browser: people, scripted agents, spaces, answers. Made over HTTP, as the operator mostly.

import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** Calls one product's API. */
export class World {
  constructor({ base, adminKey, jwtSecret }) {
    this.base = base;
    this.adminKey = adminKey;
    this.jwtSecret = jwtSecret;
  }

  /** A person. */
  person(name) {
    return this.#call('POST', '/v1/entities', { type: 'human', name });
  }

  /** An agent that plays `rules`, takes `wordDelayMs` for a word, and has these `tools`. */
  agent(name, rules, wordDelayMs = 0, tools = []) {
    const model = { provider: 'scripted', name: 'browser-tests', script: { wordDelayMs, rules } };
    return this.#call('POST', '/v1/entities', { type: 'agent', name, agent: { description: `${name} of the browser tests`, model, tools } });
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

  /** Answers an open form as this person, from elsewhere; `body` is a result. */
  answer(person, runId, callId, body) {
    const path = `/v1/runs/${runId}/toolCalls/${callId}/result`;
    return this.#call('POST', path, body, { credential: tokenOf(person, this.jwtSecret) });
  }

  // A space takes only so many messages a second; a test that makes many waits as it is told.
  async #call(method, path, body, { key = crypto.randomUUID(), credential = this.adminKey } = {}) {
    const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json', 'idempotency-key': key };
    const response = await fetch(this.base + path, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(10_000) });
    const text = await response.text();
    if (response.ok) return text === '' ? null : JSON.parse(text);
    const waitSeconds = Number(response.headers.get('retry-after'));
    if (![429, 503].includes(response.status) || !(waitSeconds <= 5)) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    await delay(Math.max(waitSeconds, 0.1) * 1000);
    return this.#call(method, path, body, { key, credential });
  }
}

function tokenOf({ id }, secret) {
  const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded({ sub: id, exp: Math.floor(Date.now() / 1000) + 600 })}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** A rule that answers what people say with these texts, each a message of its own. */
export const answers = (...texts) => ({
  when: { trigger: 'space_message', sender: 'human' },
  steps: texts.map((text) => ({ calls: [{ tool: 'send_message', input: { text } }] })),
});

/** A rule that calls this tool with what is written here, and then says `text`. */
export const asks = (tool, input, text) => ({
  when: { trigger: 'space_message', sender: 'human' },
  steps: [{ calls: [{ tool, input }] }, { calls: [{ tool: 'send_message', input: { text } }] }],
});

/** A tool that asks people. */
export const askingTool = (name, execution) => ({
  name,
  description: `${name} of the browser tests`,
  inputSchema: { type: 'object' },
  execution: { type: 'space', expiresAfter: '10 minutes', ...execution },
});
