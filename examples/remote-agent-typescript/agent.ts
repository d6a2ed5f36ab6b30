// A remote agent: Smartspace calls it, and it streams its answer, posts it and completes the run.

import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';

type Delivery = { run: { id: string }; trigger: any; callbacks: Record<string, string> };

/** The agent itself: yields its answer piece by piece. */
async function* answer({ trigger }: Delivery) {
  const { sender, text } = trigger;
  if (sender?.type !== 'human') return; // Two agents would answer each other.
  for (const [word] of `Hello ${sender.name}, you said: ${text}`.matchAll(/\s*\S+/g)) {
    await delay(200); // A model takes time, too.
    yield word;
  }
}

async function work(delivery: Delivery) {
  const { id } = delivery.run;
  const { token, messages, stream, complete } = delivery.callbacks;
  const bearer = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = async (url: string, content: object) => {
    const headers = { ...bearer, 'idempotency-key': id };
    const request = { method: 'POST', headers, body: JSON.stringify(content) };
    for (const pause of [500, 1000, 2000, 4000, 0]) {
      // Every callback may be repeated.
      try {
        const response = await fetch(url, request);
        if (response.ok) return;
        // Too often: the next snapshot has this text, too.
        if (url === stream && response.status === 429) return;
        // Posted before this program was started again, in other words.
        if (url === messages && response.status === 422) return;
        throw Object.assign(new Error(await response.text()), { status: response.status });
      } catch (error: any) {
        // Without a status it was not connected.
        if (!pause || ![429, 502, 503, 504].includes(error.status ?? 503)) throw error;
        await delay(pause);
      }
    }
  };
  try {
    let text = '';
    let shown = 0;
    for await (const piece of answer(delivery)) {
      text += piece;
      if (!text || Date.now() - shown < 250) continue; // At most five times a second.
      await post(stream, { streamKey: 'answer', offset: 0, text, snapshot: true });
      shown = Date.now();
    }
    if (text) await post(messages, { streamKey: 'answer', text });
    await post(complete, { status: 'completed' });
  } catch (error: any) {
    // 409: the run has ended. Somebody canceled it, for example.
    if (error.status === 409) return console.log(`${id} is over`);
    await post(complete, { status: 'failed', reason: String(error) });
  }
}

const webhook = new Webhook(process.env.SMARTSPACE_SECRET_REMOTE_AGENT!);
const seen = new Set<string>();
createServer(async (request, response) => {
  try {
    const body = await textOf(request);
    const delivery = webhook.verify(body, request.headers as any) as Delivery;
    response.writeHead(204).end();
    if (seen.has(delivery.run.id)) return; // A delivery may come again.
    seen.add(delivery.run.id);
    work(delivery).catch(console.error);
  } catch {
    response.writeHead(401).end();
  }
}).listen(Number(process.env.PORT ?? 8701), '127.0.0.1');
