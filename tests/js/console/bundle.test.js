// The built files: they are up to date and small, and the page loads few of them.

import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { DIST, files } from '../../../clients/js/console/build.js';
import { openTab } from './console_page.js';
import { product } from './suite.js';

// The scripts, compressed: what the page loads at once; what a reader of a space opens, for which
// the page loads them when it has nothing else to do; operators' pages; what it loads once it
// shows; and home.
const LARGEST_PAGE_BYTES = 90 * 1024;
const LARGEST_OPENED_BYTES = 18 * 1024;
const LARGEST_STUDIO_BYTES = 62 * 1024;
const LARGEST_LATER_BYTES = 12 * 1024;
const LARGEST_HOME_BYTES = 16 * 1024;

test('the committed files are up to date and small', async () => {
  const built = await files();
  assert.deepEqual((await readdir(DIST)).sort(), Object.keys(built).sort());
  for (const [name, text] of Object.entries(built))
    assert.ok(
      (await readFile(DIST + name, 'utf8')) === text,
      `${name} is outdated: run "npm run build -w console" in clients/js`,
    );
  const scripts = Object.keys(built).filter((name) => name.endsWith('.js'));
  const first = scripts.filter((name) => built['index.html'].includes(`/console/${name}`));
  // One has the hash that changes with the page, and the other what all scripts share.
  assert.deepEqual(first.map((name) => name.split('.')[0]).sort(), ['app', 'chunk']);
  const sizeOf = (names) => names.reduce((size, name) => size + gzipSync(built[name]).length, 0);
  assert.ok(sizeOf(first) <= LARGEST_PAGE_BYTES);
  const later = scripts.filter((name) => !first.includes(name));
  const named = (pattern) => later.filter((name) => pattern.test(name));
  assert.ok(sizeOf(named(/^(chunk|decision_form|form|why)\./)) <= LARGEST_OPENED_BYTES);
  assert.ok(sizeOf(named(/^studio\./)) <= LARGEST_STUDIO_BYTES);
  assert.ok(sizeOf(named(/^later\./)) <= LARGEST_LATER_BYTES);
  assert.ok(sizeOf(named(/^home\./)) <= LARGEST_HOME_BYTES);
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
  const shown = files.filter((path) => path !== '/console/icon.svg').sort();
  assert.deepEqual(shown.map((path) => path.replace(/\.[0-9A-Z]{8}\./, '.')).sort(), [
    '/console/app.css',
    '/console/app.js',
    '/console/chunk.js',
  ]);

  // A file with a hash in its name never changes.
  const [script] = shown.filter((path) => path.includes('/app.') && path.endsWith('.js'));
  const asked = await fetch(product.base + script);
  assert.match(asked.headers.get('cache-control'), /immutable/);
  assert.equal(asked.headers.get('content-encoding'), 'gzip');

  const first = await fetch(product.base);
  assert.equal(first.headers.get('cache-control'), 'public, max-age=60');
  const etag = first.headers.get('etag');
  const again = async (tags) => {
    const answer = await fetch(product.base, { headers: { 'if-none-match': tags } });
    return [answer.status, (await answer.text()).length > 0];
  };
  assert.equal(first.status, 200);
  for (const known of [etag, `W/${etag}`, `"another", ${etag}`, '*'])
    assert.deepEqual(await again(known), [304, false], known);
  for (const unknown of ['"another"', etag.slice(1), ''])
    assert.deepEqual(await again(unknown), [200, true], unknown);
});
