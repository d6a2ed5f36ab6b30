// Measures how fast typing shows while agents write: `node latency.js` prints the latency from a
// key to the frame that shows it, with 5,000 messages and 30 pieces of text a second from each of
// 25 agents. Run it by hand, with the product built and named in SMARTSPACE_BIN.

import { chromium } from 'playwright-core';
import { makeServer } from './fake_page.js';
import { startProduct } from '../product.js';

const MESSAGES = 5000;
const AGENTS = 25;
const PIECES_PER_SECOND = 30;
const KEYS = 200;
const KEY_MS = 50;

const product = await startProduct();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'],
});
try {
  for (const isBusy of [false, true]) console.log(isBusy ? 'busy' : 'quiet', await measure(isBusy));
} finally {
  await browser.close();
  await product.stop();
}

async function measure(isBusy) {
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 } });
  await page.addInitScript(makeServer);
  await page.route('**/v1/**', async (route) => {
    const request = route.request();
    const { pathname, search } = new URL(request.url());
    const asked = [request.method(), pathname + search, request.postDataJSON()];
    const [status, json] = await page
      .evaluate((asked) => window.answer(...asked), asked)
      // What the fake server does not know is not measured.
      .catch(() => [404, {}]);
    await route.fulfill({ status, json });
  });
  await page.goto(`${product.base}/#key=a-key`);
  await page.evaluate(() => window.open());
  await page.evaluate(async (count) => {
    const texts = Array.from({ length: count }, (_, index) =>
      window.text(index + 1, `Message **${index + 1}** of the harbour`, { runId: `run${index}` }),
    );
    await window.deliver(...texts);
  }, MESSAGES);
  await page.evaluate(record, isBusy ? { AGENTS, PIECES_PER_SECOND } : null);
  await page.locator('#text').click();
  await page.keyboard.type('x'.repeat(KEYS), { delay: KEY_MS });
  const latencies = await page.evaluate(() => window.latencies);
  await page.close();
  const sorted = latencies.sort((one, other) => one - other);
  const at = (part) => Math.round(sorted[Math.floor(part * (sorted.length - 1))]);
  return { keys: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

// Runs in the page: writes streams, and records when each key shows.
function record(load) {
  window.latencies = [];
  addEventListener('keydown', ({ timeStamp }) =>
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.latencies.push(performance.now() - timeStamp);
      channel.port2.postMessage(null);
    }),
  );
  if (!load) return;
  for (let agent = 0; agent < load.AGENTS; agent += 1) {
    const streamId = `stream${agent}`;
    const runId = `writing${agent}`;
    window.deliver(...window.stream(streamId, 'word ', { runId }));
    let offset = 5;
    setInterval(() => {
      const text = 'more words ';
      window.deliver({ type: 'stream.delta', streamId, offset, text });
      offset += text.length;
    }, 1000 / load.PIECES_PER_SECOND);
  }
}
