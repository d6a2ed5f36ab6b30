// Builds the packages `client` and `react` into their `dist` folders: `npm run build`.

import { execFileSync } from 'node:child_process';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));

for (const name of ['client', 'react']) {
  const dist = `${HERE}${name}/dist`;
  await rm(dist, { recursive: true, force: true });
  execFileSync(process.execPath, [`${HERE}node_modules/typescript/bin/tsc`, '-p', name], {
    cwd: HERE,
    stdio: 'inherit',
  });
  // The compiler leaves the names of sources in declarations.
  for (const file of await readdir(dist, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const text = await readFile(`${dist}/${file}`, 'utf8');
    await writeFile(
      `${dist}/${file}`,
      text.replaceAll(/(from|import\()\s*(['"]\..*?)\.tsx?(['"])/g, '$1 $2.js$3'),
    );
  }
}
