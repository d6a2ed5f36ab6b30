// The peer's agents: a virtual object for each agent of a room. It stores the last messages, asks
// the model, streams its text to the clients that follow the room, and stores the answer.

import * as restate from '@restatedev/restate-sdk';
import { WebSocketServer } from 'ws';

// The SDK expects Node 22.
Promise.withResolvers ??= () => {
  const it = {};
  it.promise = new Promise((resolve, reject) => Object.assign(it, { resolve, reject }));
  return it;
};

const { MODEL_URL, SERVICE_PORT, SOCKET_PORT } = process.env;
const KEPT = 74;

const followers = new Map();
new WebSocketServer({ host: '127.0.0.1', port: Number(SOCKET_PORT) }).on(
  'connection',
  (socket, request) => {
    const room = new URL(request.url, 'http://host').searchParams.get('room');
    const sockets = followers.get(room) ?? new Set();
    followers.set(room, sockets.add(socket));
    socket.on('close', () => sockets.delete(socket));
  },
);

/** Shows a frame to the followers of the room that a conversation belongs to. */
function show(conversation, frame) {
  const text = JSON.stringify(frame);
  for (const socket of followers.get(conversation.split('.')[0]) ?? []) socket.send(text);
}

const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'send_message',
      description: 'Post a message.',
      parameters: {
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      },
    },
  },
];

/** Asks the model, and shows the text of its message while it comes. */
async function ask(conversation, messages) {
  const answer = await fetch(`${MODEL_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'zero', stream: true, messages, tools: TOOLS }),
  });
  let input = '';
  let rest = '';
  const decoder = new TextDecoder();
  for await (const bytes of answer.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line === 'data: [DONE]') continue;
      const { delta } = JSON.parse(line.slice(6)).choices[0];
      const piece = delta.tool_calls?.[0].function.arguments ?? '';
      input += piece;
      if (piece !== '') show(conversation, { type: 'delta', piece });
    }
  }
  return JSON.parse(input).text;
}

const chat = restate.object({
  name: 'chat',
  handlers: {
    say: async (ctx, text) => {
      const messages = (await ctx.get('messages')) ?? [];
      messages.push({ role: 'user', content: text });
      const reply = await ctx.run('ask', () => ask(ctx.key, messages));
      messages.push({ role: 'assistant', content: reply });
      ctx.set('messages', messages.slice(-KEPT));
      return reply;
    },
    fill: async (ctx, texts) => {
      ctx.set(
        'messages',
        texts.map((content) => ({ role: 'user', content })),
      );
    },
  },
});

await restate.serve({ services: [chat], port: Number(SERVICE_PORT) });
