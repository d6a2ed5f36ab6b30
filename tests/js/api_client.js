// Calls the HTTP API for the tests, mostly as the operator: creates people, scripted agents, spaces
// and messages.

import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** A configuration with which each message starts a run, and a run goes on after its message. */
export const EVERY_STEP = {
  loop: { endAfterSend: false },
  concurrency: { mode: 'parallel' },
};

/** A client for the API of one product. */
export class ApiClient {
  constructor({ base, adminKey, jwtSecret }) {
    this.base = base;
    this.adminKey = adminKey;
    this.jwtSecret = jwtSecret;
  }

  createPerson(name) {
    return this.#call('POST', '/v1/entities', { type: 'human', name });
  }

  /**
   * An agent with the scripted `rules`. It waits `wordDelayMs` after each word. Each message starts
   * a run of its own, which plays all of its steps, unless `config` says otherwise.
   */
  createAgent(name, rules, wordDelayMs = 0, tools = [], config = {}) {
    const model = {
      provider: 'scripted',
      name: 'browser-tests',
      script: { wordDelayMs, rules },
    };
    return this.#call('POST', '/v1/entities', {
      type: 'agent',
      name,
      agent: {
        description: `${name} of the browser tests`,
        model,
        tools,
        ...EVERY_STEP,
        ...config,
      },
    });
  }

  /** An agent that asks a model of a provider. */
  createModelAgent(name, provider, model, instructions) {
    const agent = { instructions, model: { provider, name: model }, ...EVERY_STEP };
    return this.#call('POST', '/v1/entities', { type: 'agent', name, agent });
  }

  /** The oldest entity with this name. */
  async entityNamed(name) {
    const { items } = await this.#call('GET', '/v1/entities?limit=200');
    return items.findLast((entity) => entity.name === name);
  }

  entity(id) {
    return this.#call('GET', `/v1/entities/${id}`);
  }

  /** Changes an entity with a merge patch. */
  change(id, patch) {
    return this.#call('PATCH', `/v1/entities/${id}`, patch);
  }

  space({ id }) {
    return this.#call('GET', `/v1/spaces/${id}`);
  }

  /** The oldest 200 spaces. */
  async spaces() {
    return (await this.#call('GET', '/v1/spaces?limit=200')).items;
  }

  /** The memories of an agent. */
  async memories({ id }) {
    return (await this.#call('GET', `/v1/agents/${id}/memories`)).items;
  }

  /** Triggers an agent in the name of a service. */
  trigger({ id }, service, payload) {
    return this.#call('POST', `/v1/agents/${id}/trigger`, { service, payload });
  }

  /** Asks again until `ask` returns something true, and returns it. */
  async waitFor(ask) {
    for (const started = Date.now(); ; await delay(100)) {
      const found = await ask();
      if (found) return found;
      if (Date.now() - started > 30_000) throw new Error(`waited in vain for ${ask}`);
    }
  }

  /** The first message of a space that `isWanted`, once there is one. */
  waitForMessage(space, isWanted) {
    return this.waitFor(async () => (await this.messages(space)).find(isWanted));
  }

  /** A run at its end. */
  waitForRun(id) {
    return this.waitFor(async () => {
      const run = await this.#call('GET', `/v1/runs/${id}`);
      return run.finishedAt && run;
    });
  }

  /** Nothing triggers the agent any longer. */
  pause({ id }) {
    return this.change(id, { agent: { paused: true } });
  }

  createSpace(name, members, settings = {}) {
    return this.#call('POST', '/v1/spaces', {
      name,
      members: members.map(({ id }) => id),
      ...settings,
    });
  }

  setRole(space, { id }, role) {
    return this.#call('PUT', `/v1/spaces/${space.id}/members/${id}`, { role });
  }

  /** An invite for one person, with its token. */
  createInvite({ id }) {
    return this.#call('POST', `/v1/spaces/${id}/invites`, {});
  }

  /** An invite that an owner makes. */
  createInviteAs(owner, { id }) {
    const credential = tokenOf(owner, this.jwtSecret);
    return this.#call('POST', `/v1/spaces/${id}/invites`, {}, { credential });
  }

  revoke(space, { id }) {
    return this.#call('DELETE', `/v1/spaces/${space.id}/invites/${id}`);
  }

  /** Uses an invite as somebody without a credential. */
  acceptAsGuest({ token }, name) {
    return this.#call('POST', '/v1/invites/accept', { token, name }, { credential: null });
  }

  postMessage(space, sender, text, more = {}) {
    return this.#call('POST', `/v1/spaces/${space.id}/messages`, {
      text,
      senderId: sender.id,
      ...more,
    });
  }

  /** The last 200 messages of a space, oldest first. */
  async messages(space) {
    const { seq } = await this.#call('GET', `/v1/spaces/${space.id}`);
    return (await this.#call('GET', `/v1/spaces/${space.id}/messages?before=${seq + 1}&limit=200`))
      .items;
  }

  /** The runs of a space, newest first. */
  async runs(space) {
    return (await this.#call('GET', `/v1/spaces/${space.id}/runs`)).items;
  }

  /** Answers an open form as this person, without a browser. `body` is a result. */
  answer(person, runId, callId, body) {
    const path = `/v1/runs/${runId}/toolCalls/${callId}/result`;
    return this.#call('POST', path, body, {
      credential: tokenOf(person, this.jwtSecret),
    });
  }

  /** Any other call of the API, as the operator. */
  request(method, path, body) {
    return this.#call(method, path, body);
  }

  // The API limits the messages per second, so a throttled call waits and is repeated.
  async #call(method, path, body, { key = crypto.randomUUID(), credential = this.adminKey } = {}) {
    const headers = {
      ...(credential && { authorization: `Bearer ${credential}` }),
      'content-type': 'application/json',
      'idempotency-key': key,
    };
    const response = await fetch(this.base + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    if (response.ok) return text === '' ? null : JSON.parse(text);
    const waitSeconds = Number(response.headers.get('retry-after'));
    if (![429, 503].includes(response.status) || !(waitSeconds <= 5))
      throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    await delay(Math.max(waitSeconds, 0.1) * 1000);
    return this.#call(method, path, body, { key, credential });
  }
}

/** A token of this entity, for ten minutes. */
export function tokenOf({ id }, secret) {
  const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: id, exp: Math.floor(Date.now() / 1000) + 600 };
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** A rule that answers a person's message with these texts, each as a message of its own. */
export const answerRule = (...texts) => ({
  when: { trigger: 'space_message', sender: 'human' },
  steps: texts.map((text) => ({
    calls: [{ tool: 'send_message', input: { text } }],
  })),
});

/** A rule that calls `tool` with `input` and then sends `text`. */
export const callRule = (tool, input, text) => ({
  when: { trigger: 'space_message', sender: 'human' },
  steps: [{ calls: [{ tool, input }] }, { calls: [{ tool: 'send_message', input: { text } }] }],
});

/** A tool that shows a form to people. */
export const formTool = (name, execution) => ({
  name,
  description: `${name} of the browser tests`,
  inputSchema: { type: 'object' },
  execution: { type: 'space', expiresAfter: '10 minutes', ...execution },
});
