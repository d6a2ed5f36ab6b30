// Renders every hook in a process without a page, and prints the result: `node … bundle.cjs`.

import { createRequire } from 'node:module';
import { everyHook } from './every_hook.js';
import { forbiddenPlatform } from './fake_server.js';

for (const name of ['window', 'document'])
  Object.defineProperty(globalThis, name, {
    get: () => undefined,
    set() {
      throw new Error(`${name} was set.`);
    },
  });

const flavor = createRequire(import.meta.url)(process.argv[2]);
const { fetch, WebSocket } = forbiddenPlatform();
Object.assign(globalThis, { fetch, WebSocket });
const client = flavor.createClient({
  url: 'https://api.example',
  token: fetch,
  environment: forbiddenPlatform(),
});
process.stdout.write(flavor.renderToString(everyHook(flavor, client)));
// A call that begins later would fail here.
process.on('unhandledRejection', (error) => {
  process.stderr.write(String(error));
  process.exitCode = 1;
});
