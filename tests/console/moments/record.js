// Makes the pictures of README and the guides: recordings of the scenes, and screenshots of the
// pages. Run it by hand after a change that the pictures should show:
//
//     npm ci && SMARTSPACE_BIN=../../target/debug/smartspace npm run record [-- NAME…]

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { startProduct } from '../product.js';
import { startFakeModel } from './fake_model.js';
import { encode } from './gif.js';
import { Actor, Recorder, showPointer } from './recorder.js';
import * as scenes from './scenes.js';

const PICTURES = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url));
const SIZE = { width: 1100, height: 680 };

const NAMES = {
  first: 'first-minute',
  why: 'why',
  rollCall: 'roll-call',
  chain: 'chain',
  fork: 'fork',
  survival: 'survival',
};

async function record(browser, name) {
  const scene = scenes[name];
  const folder = await mkdtemp(join(tmpdir(), 'smartspace-recording-'));
  const model = scene.needsModel ? await startFakeModel() : null;
  const flags = scene.needsData ? ['--data', join(folder, 'data')] : [];
  const environment = model ? { OPENAI_BASE_URL: model.url } : {};
  const product = await startProduct(...flags, { environment });
  try {
    const context = await browser.newContext({
      viewport: SIZE,
      locale: 'en-GB',
      timezoneId: 'UTC',
      colorScheme: 'light',
    });
    const page = await context.newPage();
    await scenes.open(scene, page, product);
    await page.evaluate(showPointer);
    const recorder = new Recorder(page);
    const actor = new Actor(page, SIZE);
    await actor.look();
    await scene.play({ page, product, actor });
    const frames = await recorder.stop();
    await context.close();
    const output = `${PICTURES}${NAMES[name]}.gif`;
    await writeFile(output, encode(frames, SIZE));
    console.log(`${output}: ${frames.length} frames`);
  } finally {
    await product.stop();
    model?.stop();
    await rm(folder, { recursive: true });
  }
}

const wanted = process.argv.slice(2);
await mkdir(PICTURES, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-lcd-text', '--no-first-run'],
});
try {
  for (const name of wanted.length > 0 ? wanted : Object.keys(NAMES)) await record(browser, name);
} finally {
  await browser.close();
}
