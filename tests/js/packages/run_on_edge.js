// Runs the program of a file in a runtime without `window`, `document`, `localStorage` and
// `process`, and prints its result: `node run_on_edge.js <file>`.

import { readFile } from 'node:fs/promises';
import { EdgeVM } from '@edge-runtime/vm';

const { WebSocket = (await import('ws')).WebSocket } = globalThis;
const runtime = new EdgeVM({
  extend: (context) => Object.assign(context, { WebSocket }),
});
const absent = ['window', 'document', 'localStorage', 'process', 'addEventListener'];
const types = absent.map((name) => runtime.evaluate(`typeof ${name}`));
const result = await runtime.evaluate(await readFile(process.argv[2], 'utf8'));
console.log(JSON.stringify({ types, ...result }));
