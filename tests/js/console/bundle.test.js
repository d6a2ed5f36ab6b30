// The built files: they are up to date and small, and the page loads few of them.

import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { DIST, files } from '../../../clients/js/console/build.js';
import { openTab } from './console_page.js';
import { product } from './suite.js';

// The scripts, compressed: what the page loads at once; what a reader of a space opens, for which
// the page loads them when it has nothing else to do; what it loads once it shows; home; and
// operators' pages. A chunk that several of them need counts for the first of these.
const LARGEST_BYTES = {
  app: 90 * 1024,
  'form decision_form why': 17 * 1024,
  later: 12 * 1024,
  home: 10 * 1024,
  studio: 66 * 1024,
};

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
  const counted = new Set();
  for (const [entries, largest] of Object.entries(LARGEST_BYTES)) {
    const named = scripts.filter((name) => entries.split(' ').includes(name.split('.')[0]));
    const loaded = [...withImports(built, named)].filter((name) => !counted.has(name));
    const size = loaded.reduce((sum, name) => sum + gzipSync(built[name]).length, 0);
    assert.ok(size <= largest, `${entries}: ${size} bytes in ${loaded}`);
    for (const name of loaded) counted.add(name);
  }
  assert.deepEqual([...counted].sort(), scripts.sort());
});

/** These scripts, and those without which they do not run. */
function withImports(built, names, known = new Set()) {
  for (const name of names) {
    if (known.has(name)) continue;
    known.add(name);
    const imported = built[name].matchAll(/\b(?:from|import)"\.\/([^"]+)"/g);
    withImports(
      built,
      [...imported].map(([, other]) => other),
      known,
    );
  }
  return known;
}

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

  // A file with a hash in its name never changes. Small files are not compressed.
  for (const script of shown.filter((path) => path.endsWith('.js'))) {
    const asked = await fetch(product.base + script);
    assert.match(asked.headers.get('cache-control'), /immutable/);
    const encoding = script.includes('/chunk.') ? 'gzip' : null;
    assert.equal(asked.headers.get('content-encoding'), encoding, script);
  }

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
