// A model without latency that speaks like OpenAI: it answers with one message in four pieces. When
// it gets the result of that, it has nothing to add.

import { createServer } from 'node:http';
import { listening } from './ports.js';

const PIECES = ['{"text":"It', ' takes a', ' few milli', 'seconds."}'];

const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const call = (part) => ({ tool_calls: [{ index: 0, ...part }] });

const ANSWER = [
  chunk({ role: 'assistant' }),
  chunk(
    call({ id: 'call_1', type: 'function', function: { name: 'send_message', arguments: '' } }),
  ),
  ...PIECES.map((piece) => chunk(call({ function: { arguments: piece } }))),
  chunk({}, 'tool_calls'),
  'data: [DONE]\n\n',
].join('');

const NOTHING = [chunk({ role: 'assistant' }), chunk({}, 'stop'), 'data: [DONE]\n\n'].join('');

/** Starts the model. Returns the URL of its API. */
export async function startModel() {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text));
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(body.includes('"role":"tool"') ? NOTHING : ANSWER);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => socket.setNoDelay(true));
  return { url: `${await listening(server)}/v1`, stop: () => server.close() };
}
