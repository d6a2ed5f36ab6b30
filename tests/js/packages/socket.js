// A plain WebSocket that collects every frame. It is not the client: the client's types are checked
// against what arrives here.

import { once } from 'node:events';
import { WebSocket } from 'ws';

const LIMIT_MS = 30_000;

/**
 * Calls the API as the bearer of `credential`, and returns the body of the response. `key` is the
 * idempotency key.
 */
export async function call(base, credential, method, path, body, key) {
  const response = await fetch(base + path, {
    method,
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      ...(key && { 'idempotency-key': key }),
    },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return text ? JSON.parse(text) : null;
}

/** Opens a socket: `{frames, send, until, close}`. */
export async function openSocket(base, credential) {
  const { url } = await call(base, credential, 'POST', '/v1/socketTickets', {});
  const socket = new WebSocket(url);
  const frames = [];
  const waiting = new Set();
  socket.on('message', (data) => {
    frames.push(JSON.parse(data));
    waiting.forEach((look) => look());
  });
  await once(socket, 'open');
  return {
    frames,
    send: (frame) => socket.send(JSON.stringify(frame)),
    close: () => socket.close(),
    /**
     * Waits for a frame with these fields, or for one that a function accepts. It may have come
     * before.
     */
    until(wanted) {
      const hasFields = (frame) =>
        Object.entries(wanted).every(([name, value]) => frame[name] === value);
      const isIt = typeof wanted === 'function' ? wanted : hasFields;
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = frames.find(isIt);
          if (found) end(() => resolve(found));
        };
        const name = JSON.stringify(wanted) ?? wanted;
        const fail = () => reject(new Error(`no frame like ${name} came`));
        const timer = setTimeout(() => end(fail), LIMIT_MS);
        const end = (act) => {
          clearTimeout(timer);
          waiting.delete(look);
          act();
        };
        waiting.add(look);
        look();
      });
    },
  };
}
