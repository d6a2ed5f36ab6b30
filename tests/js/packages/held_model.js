// A server that speaks OpenAI's chat completions and answers only when a test says so. The product
// asks it for one answer at a time.

import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const chunk = (delta, finishReason = null) => ({
  id: 'answer',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
});
const ANSWER = [chunk({ role: 'assistant', content: 'Done.' }), chunk({}, 'stop')];

/** Starts the server. Returns `{flags, release, stop}`: the flags of a product that knows it. */
export async function startHeldModel() {
  let release;
  const released = new Promise((resolve) => (release = resolve));
  const server = createServer(async (request, response) => {
    request.resume();
    await released;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of ANSWER) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'smartspace-providers-'));
  const file = join(folder, 'providers.json');
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  const held = { api: 'openai', baseUrl, maxConcurrent: 1 };
  await writeFile(file, JSON.stringify({ providers: { held } }));
  return {
    flags: ['--providers', file],
    release,
    async stop() {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    },
  };
}
