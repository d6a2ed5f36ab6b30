// Serves the files of a folder on a free port of the loopback interface: an origin of its own.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, normalize } from 'node:path';

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

/** Starts the server and returns its origin. It stops after the test. */
export async function serve(test, folder) {
  const server = createServer(async ({ url }, response) => {
    const path = normalize(new URL(url, 'http://localhost').pathname);
    const file = path === '/' ? '/index.html' : path;
    const body = await readFile(folder + file).catch(() => null);
    response.writeHead(body ? 200 : 404, {
      'content-type': TYPES[extname(file)] ?? 'text/plain',
    });
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}
