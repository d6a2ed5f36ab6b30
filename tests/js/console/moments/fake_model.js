// A server that speaks OpenAI's chat completions. It says one sentence, or a short one if its
// instructions ask for that.

import { once } from 'node:events';
import { createServer } from 'node:http';

const LONG = 'The sky looks blue, because air scatters blue light more than red light.';
const SHORT = 'Air scatters blue light most.';

/** Starts the server on a free port. Returns `{url, stop}`. */
export async function startFakeModel() {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    // It does not list its models.
    if (request.method !== 'POST') return response.writeHead(404).end();
    const { messages } = JSON.parse(body);
    const text = body.includes('Be brief') ? SHORT : LONG;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const hasSpoken = messages.at(-1).role === 'tool';
    for (const event of hasSpoken ? done() : speaks(text))
      response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop };
}

const chunk = (delta, finishReason = null, usage) => ({
  id: 'answer',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
  ...(usage && { usage }),
});

const usage = { prompt_tokens: 900, completion_tokens: 20, total_tokens: 920 };

const done = () => [chunk({ role: 'assistant', content: '' }), chunk({}, 'stop', usage)];

const speaks = (text) => [
  chunk({
    role: 'assistant',
    tool_calls: [
      {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: 'send_message', arguments: JSON.stringify({ text }) },
      },
    ],
  }),
  chunk({}, 'tool_calls', usage),
];
