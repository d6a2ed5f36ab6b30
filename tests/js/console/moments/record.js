// Makes the pictures of README and the guides: recordings of the scenes, and screenshots of the
// pages. Run it by hand after a change that the pictures should show:
//
//     cd tests/js && npm ci --ignore-scripts && npm run record [-- NAME…]
//
// `npm run record -- timeline` takes README's pictures of a space.
// `npm run record -- pages FOLDER` takes a screenshot of every page, wide and narrow, light and
// dark.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { ApiClient } from '../../api_client.js';
import { PAGES, addressOf, world } from '../pages.js';
import { startProduct } from '../../product.js';
import { startFakeModel } from './fake_model.js';
import { encode } from './gif.js';
import { Actor, Recorder, showPointer } from './recorder.js';
import * as scenes from './scenes.js';
import { timeline } from './timeline.js';

const PICTURES = fileURLToPath(new URL('../../../../docs/pictures/', import.meta.url));
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

const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };
const SCHEMES = ['light', 'dark'];
// The screenshots of the docs. Those of the timeline show README's space.
const DOCUMENTED = {
  'space-narrow-light': 'phone',
  'run-wide-light': 'run',
  'agent-setup-wide-light': 'agent',
  'runs-wide-light': 'runs',
  'usage-wide-light': 'usage',
};

/** Takes screenshots of every page, or of those that the docs show. */
async function screenshots(browser, folder) {
  const product = await startProduct();
  try {
    const ids = await world(new ApiClient(product));
    for (const size of Object.keys(SIZES))
      for (const colorScheme of SCHEMES) {
        const isPhone = size === 'narrow';
        const viewport = SIZES[size];
        const more = { hasTouch: isPhone, isMobile: isPhone, locale: 'en-GB', timezoneId: 'UTC' };
        const context = await browser.newContext({ viewport, colorScheme, ...more });
        const page = await context.newPage();
        await page.goto(`${product.base}/#key=${product.adminKey}`);
        await page.locator('#status[data-status="live"]').waitFor({ state: 'attached' });
        for (const [name, address, text] of PAGES) {
          const key = `${name}-${size}-${colorScheme}`;
          if (!folder && !(key in DOCUMENTED)) continue;
          await page.goto(`${product.base}/${addressOf(address, ids)}`);
          await page.getByText(text).filter({ visible: true }).first().waitFor();
          await delay(700);
          const path = folder ? join(folder, `${key}.png`) : `${PICTURES}${DOCUMENTED[key]}.png`;
          await page.screenshot({ path });
          console.log(path);
        }
        await context.close();
      }
  } finally {
    await product.stop();
  }
}

/** The timeline of one space, light and dark, without the lists around it. */
async function timelines(browser) {
  const product = await startProduct();
  try {
    const space = await timeline(new ApiClient(product));
    for (const colorScheme of SCHEMES) {
      const context = await browser.newContext({
        viewport: { width: 1100, height: 1000 },
        deviceScaleFactor: 2,
        colorScheme,
        locale: 'en-GB',
        timezoneId: 'UTC',
      });
      const page = await context.newPage();
      await page.goto(`${product.base}/#key=${product.adminKey}`);
      await page.locator('#status[data-status="live"]').waitFor({ state: 'attached' });
      await page.goto(`${product.base}/#/s/${space}`);
      await page.getByRole('button', { name: 'Wait', exact: true }).waitFor();
      await delay(700);
      const path = `${PICTURES}timeline-${colorScheme}.png`;
      const clip = await page.locator('main').boundingBox();
      const messages = await page.locator('#bubbles').boundingBox();
      clip.height = messages.y + messages.height - clip.y + 12;
      await page.screenshot({ path, clip });
      console.log(path);
      await context.close();
    }
  } finally {
    await product.stop();
  }
}

const [first, folder] = process.argv.slice(2);
const wanted = process.argv.slice(2);
await mkdir(folder ?? PICTURES, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-lcd-text', '--no-first-run'],
});
try {
  if (first === undefined || first === 'pages') await screenshots(browser, folder);
  if (first === undefined || first === 'timeline') await timelines(browser);
  const names = wanted.length > 0 ? wanted : Object.keys(NAMES);
  if (!['pages', 'timeline'].includes(first)) for (const name of names) await record(browser, name);
} finally {
  await browser.close();
}
