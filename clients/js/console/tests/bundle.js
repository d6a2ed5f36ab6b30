// Bundles TypeScript modules of the console for a test.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const CONSOLE = fileURLToPath(new URL('..', import.meta.url));

// The hooks on Preact, as the page has them.
const ALIAS = {
  react: 'preact/compat',
  '@smartspace/react': join(CONSOLE, '../react/src/index.ts'),
};

/** Runs the module with this source. Its imports are relative to the console's folder. */
export async function importSource(contents) {
  const folder = await mkdtemp(join(tmpdir(), 'smartspace-console-'));
  const outfile = join(folder, 'bundle.mjs');
  try {
    await build({
      stdin: { contents, resolveDir: CONSOLE, loader: 'ts' },
      bundle: true,
      format: 'esm',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      alias: ALIAS,
      outfile,
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile));
  } finally {
    await rm(folder, { recursive: true });
  }
}
