// Restate: its server, and a service of Node.

import { createRequire } from 'node:module';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { WebSocket } from 'ws';
import { answering, freePort, post, start, used } from './ports.js';

const require = createRequire(import.meta.url);
const SERVER = join(
  dirname(require.resolve(`@restatedev/restate-server-linux-${process.arch}/package.json`)),
  'bin/restate-server',
);

export async function startRestate(model) {
  const folder = await mkdtemp(join(tmpdir(), 'restate-'));
  const [ingress, admin, node, service, socket] = await Promise.all([1, 2, 3, 4, 5].map(freePort));
  const server = start(SERVER, ['--base-dir', folder, '--node-name', 'one'], {
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}/`,
    RESTATE_LOG_FILTER: 'error',
    DO_NOT_TRACK: '1',
  });
  const agent = start(process.execPath, [new URL('restate_service.js', import.meta.url).pathname], {
    MODEL_URL: model.url,
    SERVICE_PORT: `${service}`,
    SOCKET_PORT: `${socket}`,
    RESTATE_LOGGING: 'ERROR',
    NODE_ENV: 'production',
  });
  await answering(`http://127.0.0.1:${admin}/health`);
  for (let tries = 0; ; tries += 1) {
    try {
      await post(`http://127.0.0.1:${admin}/deployments`, { uri: `http://127.0.0.1:${service}` });
      break;
    } catch (error) {
      if (tries === 100) throw error;
    }
  }
  const url = (room, handler) => `http://127.0.0.1:${ingress}/chat/${room}/${handler}`;
  return {
    name: 'Restate',
    /** A room is a name and the conversations of its agents. */
    makeRoom: async (number, texts, agents) => {
      const name = `room-${number}`;
      const conversations = Array.from({ length: agents }, (_, at) => `${name}.${at}`);
      for (const one of conversations) await post(url(one, 'fill'), texts.slice(-74));
      return { name, conversations };
    },
    /** Follows a room. Without `onDelta` nobody looks at the frames. */
    follow: async ({ name }, onDelta) => {
      const follower = new WebSocket(`ws://127.0.0.1:${socket}/?room=${name}`);
      follower.on('message', onDelta ?? (() => {}));
      await new Promise((resolve, reject) => follower.on('open', resolve).on('error', reject));
      return () => follower.close();
    },
    /** Posts a message. Resolves when all replies are kept. */
    ask: ({ conversations }, text) =>
      Promise.all(conversations.map((one) => post(url(one, 'say'), text))),
    used: () => used([server.pid, agent.pid]),
    stop: async () => {
      await Promise.all([server.stop(), agent.stop()]);
      await rm(folder, { recursive: true });
    },
  };
}
