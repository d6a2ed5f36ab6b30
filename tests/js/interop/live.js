// What a member sees live in a space: the frames of a plain WebSocket.

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { tokenOf } from '../api_client.js';

const LIMIT_MS = 30_000;

/**
 * Follows a space as a person: `{frames, until}`. `until` waits for a frame that a function
 * accepts, which may have come before.
 */
export async function follow(t, { base, jwtSecret }, person, space) {
  const response = await fetch(`${base}/v1/socketTickets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokenOf(person, jwtSecret)}` },
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const socket = new WebSocket((await response.json()).url);
  t.after(() => socket.terminate());
  const frames = [];
  const waiting = new Set();
  socket.on('message', (data) => {
    frames.push(JSON.parse(data));
    waiting.forEach((look) => look());
  });
  const until = (isWanted) =>
    new Promise((resolve, reject) => {
      const end = (act) => {
        clearTimeout(timer);
        waiting.delete(look);
        act();
      };
      const look = () => {
        const found = frames.find(isWanted);
        if (found) end(() => resolve(found));
      };
      const types = () => frames.map(({ type }) => type).join(', ');
      const fail = () => reject(new Error(`waited in vain for ${isWanted}, got: ${types()}`));
      const timer = setTimeout(() => end(fail), LIMIT_MS);
      waiting.add(look);
      look();
    });
  await once(socket, 'open');
  socket.send(JSON.stringify({ action: 'subscribe', spaceId: space.id }));
  await until(({ type }) => type === 'subscribed');
  return { frames, until };
}
