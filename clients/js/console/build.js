// Builds the console into functions/api/console/dist: `npm run build -w console`. The files are
// committed, so that the Rust build needs no Node.

import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
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

const APP = 'src/app.tsx';

const COMMON = {
  absWorkingDir: HERE,
  bundle: true,
  minify: true,
  target: 'es2022',
  nodePaths: [`${HERE}../node_modules`],
  legalComments: 'none',
  write: false,
};

/**
 * Marked in one file, without its HTML renderer and what follows it: a module with side effects, of
 * which esbuild drops nothing.
 */
const MARKED_LEXER = {
  name: 'marked-lexer',
  setup({ onLoad }) {
    onLoad({ filter: /marked\.esm\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const end = text.search(/var \w+=class\{options;parser;/);
      const names = ['Lexer', 'Tokenizer'].map((name) =>
        new RegExp(`[{,][\\w$]+ as ${name}\\b`).exec(text)?.[0].slice(1),
      );
      if (end < 0 || names.includes(undefined)) throw new Error('marked has another form');
      return { contents: `${text.slice(0, end)}export{${names}};` };
    });
  },
};

/**
 * Lets each script that is loaded later import the first one, which is there by then. Otherwise
 * what they share with it would stand in a chunk of its own for each combination of them, and the
 * page would load all of these chunks at once.
 */
const ONE_FIRST_SCRIPT = {
  name: 'one-first-script',
  setup({ onLoad, onResolve }) {
    const later = new Set();
    onResolve({ filter: /\.tsx?$/ }, ({ kind, path, resolveDir }) => {
      if (kind === 'dynamic-import') later.add(resolve(resolveDir, path));
    });
    onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      if (!later.has(path)) return;
      const text = await readFile(path, 'utf8');
      return { contents: `${text}import ${JSON.stringify(HERE + APP)};`, loader: 'tsx' };
    });
  },
};

const source = (name) => readFile(`${HERE}src/${name}`, 'utf8');

/**
 * The scripts by their names: `app`, which the page loads; `form`, `decision_form` and `why`, which
 * it loads when it has nothing else to do; `studio`, which it loads when it opens one of its pages;
 * `home` and `later`, which it loads once it shows; and chunks with what several of them need.
 * `preloaded` are those that `app` needs.
 */
async function bundle() {
  const { outputFiles, metafile } = await build({
    ...COMMON,
    entryPoints: { app: APP },
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    alias: ALIAS,
    plugins: [MARKED_LEXER, ONE_FIRST_SCRIPT],
    splitting: true,
    outdir: 'out',
    entryNames: '[name].[hash]',
    chunkNames: '[name].[hash]',
    metafile: true,
  });
  const [{ imports }] = Object.values(metafile.outputs).filter((each) => each.entryPoint === APP);
  return {
    scripts: outputFiles.map(({ path, text }) => [basename(path), text]),
    preloaded: imports.flatMap(({ kind, path }) =>
      kind === 'import-statement' ? basename(path) : [],
    ),
  };
}

async function styles() {
  const { outputFiles } = await build({ ...COMMON, entryPoints: ['src/styles/index.css'] });
  const [{ text }] = outputFiles;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase();
  return [`app.${hash}.css`, text];
}

/** The files of the console, by their names. */
export async function files() {
  const [{ scripts: all, preloaded }, css, html, icon] = await Promise.all([
    bundle(),
    styles(),
    source('index.html'),
    source('icon.svg'),
  ]);
  const made = Object.fromEntries([...all, css]);
  const page = html
    .replace('app.css', css[0])
    .replace(
      'app.js',
      Object.keys(made).find((name) => /^app\..*js$/.test(name)),
    )
    .replace(/.*shared\.js.*\n/, (line) =>
      preloaded.map((name) => line.replace('shared.js', name)).join(''),
    );
  return { ...made, 'index.html': page, 'icon.svg': icon };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const made = await files();
  await mkdir(DIST, { recursive: true });
  for (const name of await readdir(DIST)) if (!(name in made)) await rm(DIST + name);
  for (const [name, text] of Object.entries(made)) await writeFile(DIST + name, text);
}
