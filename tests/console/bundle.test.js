// The bundles: they are up to date, and the page loads few files.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { bundles, pathOf } from './bundle.js';
import { openTab } from './console_page.js';
import { product } from './suite.js';

test('the committed bundles are up to date', async () => {
  for (const [name, text] of Object.entries(await bundles())) {
    assert.ok(
      (await readFile(pathOf(name), 'utf8')) === text,
      `${name} is outdated: run "npm run bundle" in tests/console`,
    );
  }
});

test('the page loads its bundles only, and they are cached by ETag', async (t) => {
  const page = await openTab(t);
  const seen = [];
  page.on('response', (response) =>
    seen.push([new URL(response.url()).pathname, response.status()]),
  );
  await page.goto(product.base);
  await page.waitForSelector('#sign-in:not([hidden])');
  const files = seen.filter(([path]) => path.startsWith('/console/')).map(([path]) => path);
  assert.deepEqual(files.filter((path) => path !== '/console/icon.svg').sort(), [
    '/console/bundle.css',
    '/console/bundle.js',
  ]);

  const first = await fetch(`${product.base}/console/bundle.js`);
  const etag = first.headers.get('etag');
  const again = async (tags) => {
    const answer = await fetch(`${product.base}/console/bundle.js`, {
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
