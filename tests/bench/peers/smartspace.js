// The product: its release binary on a folder of its own.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { answering, freePort, post, start, used } from './ports.js';

const KEY = 'the-key-of-the-measurement';

export async function startSmartspace(model, { binary, asksTwice }) {
  const folder = await mkdtemp(join(tmpdir(), 'smartspace-'));
  const address = `127.0.0.1:${await freePort()}`;
  const flags = ['--no-demo', '--no-rate-limit', '--listen', address, '--admin-key', KEY];
  const product = start(binary, [...flags, '--data', join(folder, 'data')], {
    OPENAI_BASE_URL: model.url,
    SMARTSPACE_LOG: 'warn',
  });
  await answering(`http://${address}/healthz`);
  const headers = { authorization: `Bearer ${KEY}` };
  const make = async (path, body) => post(`http://${address}${path}`, body, headers);
  const budget = { runsPerMinute: 100_000 };
  // The reply to each message, by the id of its run.
  const waiting = new Map();
  const early = new Set();
  const finish = (run) => {
    const resolve = waiting.get(run);
    waiting.delete(run);
    if (resolve) resolve();
    else early.add(run);
  };
  return {
    name: 'Smartspace',
    makeRoom: async (_, texts, agents) => {
      const person = await make('/v1/entities', { type: 'human', name: 'Husam' });
      const members = [person.id];
      for (const name of ['Ada', 'Bob', 'Cyd', 'Dan', 'Eve'].slice(0, agents)) {
        const agent = await make('/v1/entities', {
          type: 'agent',
          name,
          agent: {
            model: { provider: 'openai', name: 'zero' },
            budget,
            loop: { endAfterSend: !asksTwice },
          },
        });
        members.push(agent.id);
      }
      const space = await make('/v1/spaces', {
        name: 'Load',
        members,
        budget,
        paused: true,
        // An answer triggers nobody, as in the peer.
        triggerPolicy: 'mention',
      });
      for (const text of texts) {
        await make(`/v1/spaces/${space.id}/messages`, { text, senderId: person.id });
      }
      const unpause = {
        method: 'PATCH',
        headers: { ...headers, 'content-type': 'application/json' },
      };
      await fetch(`http://${address}/v1/spaces/${space.id}`, {
        ...unpause,
        body: JSON.stringify({ paused: false }),
      });
      return { space: space.id, person: person.id };
    },
    /** Follows a room. Without `onDelta` nobody looks at the frames. */
    follow: async ({ space }, onDelta) => {
      const { ticket } = await make('/v1/socketTickets', {});
      const socket = new WebSocket(`ws://${address}/v1/socket?ticket=${ticket}`);
      await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
      const subscribed = new Promise((resolve) => socket.once('message', resolve));
      socket.send(JSON.stringify({ action: 'subscribe', spaceId: space }));
      await subscribed;
      socket.on('message', (data) => {
        if (onDelta === null) return;
        const frame = JSON.parse(data);
        if (frame.type === 'stream.delta') onDelta();
        else if (frame.type === 'message.created' && frame.message.runId) {
          finish(frame.message.runId);
        }
      });
      return () => socket.close();
    },
    /** Posts a message. Resolves when the frames of all replies, which are stored, have come. */
    ask: async ({ space, person }, text) => {
      const body = { text: `@all ${text}`, senderId: person };
      const message = await make(`/v1/spaces/${space}/messages`, body);
      const kept = message.dispatch.map(async ({ runId }) => {
        if (early.delete(runId)) return;
        await new Promise((resolve) => waiting.set(runId, resolve));
      });
      await Promise.all(kept);
    },
    used: () => used([product.pid]),
    stop: async () => {
      await product.stop();
      await rm(folder, { recursive: true });
    },
  };
}
