// The built files: they are up to date and small, and the page loads few of them.

import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { DIST, files } from '../../clients/js/console/build.js';
import { openTab } from './console_page.js';
import { product } from './suite.js';

const LARGEST_BYTES = 80 * 1024; // The script, compressed.

test('the committed files are up to date and small', async () => {
  const built = await files();
  assert.deepEqual((await readdir(DIST)).sort(), Object.keys(built).sort());
  for (const [name, text] of Object.entries(built))
    assert.ok(
      (await readFile(DIST + name, 'utf8')) === text,
      `${name} is outdated: run "npm run build -w console" in clients/js`,
    );
  assert.ok(gzipSync(built['app.js']).length <= LARGEST_BYTES);
});

test('the page loads its files only, and they are cached by ETag', async (t) => {
  const page = await openTab(t);
  const seen = [];
  page.on('response', (response) =>
    seen.push([new URL(response.url()).pathname, response.status()]),
  );
  await page.goto(product.base);
  await page.waitForSelector('#sign-in');
  const files = seen.filter(([path]) => path.startsWith('/console/')).map(([path]) => path);
  assert.deepEqual(files.filter((path) => path !== '/console/icon.svg').sort(), [
    '/console/app.css',
    '/console/app.js',
  ]);

  const first = await fetch(`${product.base}/console/app.js`);
  const etag = first.headers.get('etag');
  const again = async (tags) => {
    const answer = await fetch(`${product.base}/console/app.js`, {
      headers: { 'if-none-match': tags },
    });
    return [answer.status, (await answer.text()).length > 0];
  };
  assert.equal(first.status, 200);
  for (const known of [etag, `W/${etag}`, `"another", ${etag}`, '*'])
    assert.deepEqual(await again(known), [304, false], known);
  for (const unknown of ['"another"', etag.slice(1), ''])
    assert.deepEqual(await again(unknown), [200, true], unknown);
});
