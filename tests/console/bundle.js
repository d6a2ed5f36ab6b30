// The console's modules and styles as one file each, as its page loads them: on Lambda each file is a call of a function, and a browser asks for
// three dozen at once. `npm run bundle` writes them anew.

import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const CONSOLE = fileURLToPath(new URL('../../functions/api/console/', import.meta.url));

const made = (options) => build({ absWorkingDir: CONSOLE, bundle: true, minify: true, format: 'esm', target: 'es2022', write: false, ...options });

/** The files by their names. */
export async function bundles() {
  const styles = ['style', 'timeline', 'form', 'frame'].map((name) => `@import './${name}.css';`).join('\n');
  const [js, css] = await Promise.all([
    made({ entryPoints: ['app.js'] }),
    made({ stdin: { contents: styles, resolveDir: CONSOLE, loader: 'css' } }),
  ]);
  return { 'bundle.js': js.outputFiles[0].text, 'bundle.css': css.outputFiles[0].text };
}

/** Where one of them is kept. */
export const pathOf = (name) => `${CONSOLE}${name}`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(await bundles())) await writeFile(pathOf(name), text);
}
