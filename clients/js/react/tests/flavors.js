// The hooks with React 18, React 19 and Preact: for each a bundle of its own.

import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const NEWEST = createRequire(import.meta.url);
const REACT_18 = createRequire(new URL('../../react18/package.json', import.meta.url));
const NAMES = ['react', 'react-dom', 'react-dom/client', 'react-dom/server'];

const aliases = (resolve) => Object.fromEntries(NAMES.map((name) => [name, resolve(name)]));

const FLAVORS = {
  'React 18': { act: 'react', alias: aliases(REACT_18.resolve) },
  'React 19': { act: 'react', alias: aliases(NEWEST.resolve) },
  Preact: {
    act: 'preact/test-utils',
    alias: {
      'react-dom/client': 'preact/compat/client',
      'react-dom/server': 'preact/compat/server',
      'react-dom': 'preact/compat',
      react: 'preact/compat',
    },
  },
};

const source = (act) => `
  export * as React from 'react';
  export { createRoot, hydrateRoot } from 'react-dom/client';
  export { renderToString } from 'react-dom/server';
  export { act } from '${act}';
  export * as hooks from './react/dist/index.js';
  export { createClient } from './client/dist/index.js';
`;

async function bundle(name, { act, alias }) {
  const folder = mkdtempSync(`${tmpdir()}/smartspace-react-`);
  const outfile = `${folder}/bundle.cjs`;
  process.on('exit', () => rmSync(folder, { recursive: true }));
  await build({
    stdin: { contents: source(act), resolveDir: fileURLToPath(new URL('../..', import.meta.url)) },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile,
    alias,
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'error',
  });
  return { name, isReact: name !== 'Preact', file: outfile };
}

/** The file of each bundle, and what it is: `{ name, isReact, file }`. */
export const bundles = await Promise.all(
  Object.entries(FLAVORS).map(([name, flavor]) => bundle(name, flavor)),
);

/** Loads a bundle. A document must exist by then. */
export const load = (file) => NEWEST(file);

/** The script that renders on a server. */
export const SERVER_SCRIPT = `${HERE}render_on_server.js`;
