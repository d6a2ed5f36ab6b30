// Bundles the console's modules and styles into one file each. The page would load more than thirty
// files otherwise, and on Lambda each file is an invocation. `npm run bundle` writes the files.

import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const CONSOLE = fileURLToPath(new URL('../../functions/api/console/', import.meta.url));

const made = (options) =>
  build({
    absWorkingDir: CONSOLE,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    ...options,
  });

/** The bundles by file name. */
export async function bundles() {
  const styles = ['style', 'timeline', 'form', 'layout']
    .map((name) => `@import './${name}.css';`)
    .join('\n');
  const [js, css] = await Promise.all([
    made({ entryPoints: ['app.js'] }),
    made({ stdin: { contents: styles, resolveDir: CONSOLE, loader: 'css' } }),
  ]);
  return { 'bundle.js': js.outputFiles[0].text, 'bundle.css': css.outputFiles[0].text };
}

/** The path of a bundle. */
export const pathOf = (name) => `${CONSOLE}${name}`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(await bundles())) await writeFile(pathOf(name), text);
}
