// A client of A2A for the tests: the SDK for JavaScript, unmodified, with a person's token.

import assert from 'node:assert/strict';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { Role } from '@a2a-js/sdk';
import { tokenOf } from '../api_client.js';
import { startGarden } from './garden.js';

/** A garden whose Guide is open, and a client of the Guide with Husam's token. */
export async function openGarden(t, wordDelayMs) {
  // One call of A2A makes several of the API, and the tests make many at once.
  const garden = await startGarden(t, wordDelayMs, '--no-rate-limit');
  await garden.api.change(garden.guide.id, { agent: { open: true } });
  const client = await clientOf(garden, garden.guide, garden.husam);
  return { ...garden, client };
}

/** A client of an agent with a person's token. */
export function clientOf({ product }, agent, person) {
  const authorization = `Bearer ${tokenOf(person, product.jwtSecret)}`;
  const fetchImpl = (url, init = {}) =>
    fetch(url, { ...init, headers: { ...init.headers, authorization } });
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  );
  return factory.createFromUrl(
    `${product.base}/v1/agents/${agent.id}/`,
    '.well-known/agent-card.json',
  );
}

/** A part of a message, as the SDK has it. */
export const part = ($case, value, more = {}) => ({
  content: { $case, value },
  metadata: undefined,
  filename: '',
  mediaType: '',
  ...more,
});

let count = 0;

/** The request that sends a text. `more` are other fields of the message. */
export const asked = (text, more = {}) => ({
  message: {
    messageId: `message-${++count}`,
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [part('text', text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  },
  tenant: '',
  configuration: undefined,
  metadata: undefined,
});

/** The request that lists all tasks. `more` are its filters. */
export const listed = (more = {}) => ({
  tenant: '',
  contextId: '',
  status: 0,
  pageToken: '',
  statusTimestampAfter: undefined,
  ...more,
});

export const textOf = ({ parts }) => parts.map(({ content }) => content.value).join('');

/** Sends a call, and returns `{status, error, result}`. A header that is null is left out. */
export async function send({ product, guide, bearer }, call, { path = 'a2a', headers = {} } = {}) {
  const all = { 'content-type': 'application/json', 'a2a-version': '1.0', ...bearer, ...headers };
  const response = await fetch(`${product.base}/v1/agents/${guide.id}/${path}`, {
    method: 'POST',
    headers: Object.entries(all).filter(([, value]) => value !== null),
    body: typeof call === 'string' ? call : JSON.stringify(call),
  });
  return { status: response.status, ...(await response.json()) };
}

/** The code of the error with which a call is refused. Its details name the reason. */
export async function refusal(garden, call, options) {
  const { status, error } = await send(garden, call, options);
  assert.equal(status, 200);
  if (error === undefined) return undefined;
  const [info] = error.data;
  assert.equal(info['@type'], 'type.googleapis.com/google.rpc.ErrorInfo');
  assert.equal(info.domain, 'a2a-protocol.org');
  assert.match(info.reason, /^[A-Z_]+$/);
  return error.code;
}

/** A call of a method. */
export const call = (method, params) => ({ jsonrpc: '2.0', id: 1, method, params });
