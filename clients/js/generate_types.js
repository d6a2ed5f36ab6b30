// Writes the types of the HTTP API from its committed description: `npm run types`.

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import openapi, { astToString } from 'openapi-typescript';

const at = (path) => new URL(path, import.meta.url);
const HEAD = '// Generated from docs/reference/openapi.json by `npm run types` in clients/js.\n\n';

/** The path of the committed types. */
export const TYPES = fileURLToPath(at('client/src/api.ts'));

/** The types that the committed description stands for, as the text of a module. */
export async function typesText() {
  const description = JSON.parse(await readFile(at('../../docs/reference/openapi.json'), 'utf8'));
  return HEAD + astToString(await openapi(description, { emptyObjectsUnknown: true }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(TYPES, await typesText());
