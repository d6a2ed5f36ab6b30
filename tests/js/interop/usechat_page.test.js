// The example usechat, bundled, in a browser.

import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { serve } from '../web_server.js';
import { OPENING, WEATHER, startGarden } from './garden.js';

const EXAMPLE = fileURLToPath(new URL('../../../examples/usechat', import.meta.url));
const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url));
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'];
const LIMIT_MS = 30_000;
// The page is loaded again while an answer is written.
const WORD_MS = 500;

/** The origin of the page. */
async function servePage(t) {
  const folder = await mkdtemp(join(tmpdir(), 'usechat-'));
  t.after(() => rm(folder, { recursive: true }));
  await cp(EXAMPLE, folder, {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  });
  await build({
    entryPoints: [join(folder, 'page.jsx')],
    outfile: join(folder, 'dist/page.js'),
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    nodePaths: [MODULES],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return serve(t, folder);
}

test('a page shows who writes, asks, and goes on when it is loaded again', async (t) => {
  const origin = await servePage(t);
  const { product, api, sarah, garden, bearer } = await startGarden(
    t,
    WORD_MS,
    '--cors-origin',
    origin,
  );
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  t.after(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(LIMIT_MS);
  const errors = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  const token = bearer.authorization.replace('Bearer ', '');
  await page.goto(`${origin}/#token=${token}&space=${garden.id}&api=${product.base}`);
  const say = async (text) => {
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const log = page.getByRole('log');

  await say('@all Good morning!');
  await log.getByText('It will').waitFor();
  await api.postMessage(garden, sarah, 'I am here, too.');
  await log.getByText(`Guide${OPENING}`).waitFor();
  await log.getByText(`Weather${WEATHER}`).waitFor();
  await log.getByText('SarahI am here, too.').waitFor();

  await say('@Guide Please order roses.');
  await page.getByRole('button', { name: 'Approve' }).click();
  await log.getByText('GuideYou chose: Approve').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0);

  await say('@Guide When does it open?');
  await log.getByText('The garden').nth(1).waitFor();
  await page.reload();
  await log.getByText(`Guide${OPENING}`).waitFor();
  assert.equal((await api.messages(garden)).at(-1).parts[0].text, OPENING);
  assert.deepEqual(errors, []);
  if (process.env.PICTURES) {
    for (const colorScheme of ['light', 'dark'])
      for (const width of [1000, 380]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 600 });
        await page.screenshot({ path: join(process.env.PICTURES, `${colorScheme}-${width}.png`) });
      }
  }
});
