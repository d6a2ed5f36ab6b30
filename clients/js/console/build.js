// Builds the console into functions/api/console/dist: `npm run build -w console`. The files are
// committed, so that the Rust build needs no Node.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** The folder that the server embeds. */
export const DIST = fileURLToPath(new URL('../../../functions/api/console/dist/', import.meta.url));

// The libraries come from their sources, so that the result does not depend on an earlier build.
const ALIAS = {
  react: 'preact/compat',
  '@smartspace/client': `${HERE}../client/src/index.ts`,
  '@smartspace/react': `${HERE}../react/src/index.ts`,
};

const made = async (entryPoint) => {
  const { outputFiles } = await build({
    absWorkingDir: HERE,
    entryPoints: [entryPoint],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    alias: ALIAS,
    nodePaths: [`${HERE}../node_modules`],
    legalComments: 'none',
    write: false,
  });
  return outputFiles[0].text;
};

const source = (name) => readFile(`${HERE}src/${name}`, 'utf8');

/** The files of the console, by their names. */
export async function files() {
  const [js, css, html, icon] = await Promise.all([
    made('src/app.tsx'),
    made('src/styles/index.css'),
    source('index.html'),
    source('icon.svg'),
  ]);
  return { 'app.js': js, 'app.css': css, 'index.html': html, 'icon.svg': icon };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await mkdir(DIST, { recursive: true });
  for (const [name, text] of Object.entries(await files())) await writeFile(DIST + name, text);
}
