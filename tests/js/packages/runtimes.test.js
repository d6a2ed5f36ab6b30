// The client outside of browsers: in an edge runtime, and in Node without and with a WebSocket.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { build } from 'esbuild';
import { ApiClient, answerRule, tokenOf } from '../api_client.js';
import { startProduct } from '../product.js';
import { nodes } from './nodes.js';
import { HERE, command, folderWithPackages } from './packages.js';

const ANSWER = 'Hello to the edge';

let product;
let api;
let sarah;
let guide;

before(async () => {
  product = await startProduct();
  api = new ApiClient(product);
  sarah = await api.createPerson('Sarah');
  guide = await api.createAgent('Guide', [answerRule(ANSWER)], 30);
});

after(() => product?.stop());

/** Writes a program that has all that it needs, and returns its path. */
async function programIn(folder, name) {
  const { id: spaceId } = await api.createSpace(name, [sarah, guide]);
  const token = tokenOf(sarah, product.jwtSecret);
  const { outputFiles } = await build({
    stdin: {
      contents: "export * from '@smartspace/client';",
      resolveDir: folder,
    },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'smartspace',
    target: 'es2022',
  });
  const program = [
    outputFiles[0].text,
    `var settings = ${JSON.stringify({ url: product.base, token, spaceId })};`,
    await readFile(`${HERE}runtime_program.js`, 'utf8'),
  ];
  await writeFile(`${folder}/program.js`, program.join('\n'));
  return `${folder}/program.js`;
}

for (const [version, node] of await nodes())
  test(`the client runs on the edge (Node ${version})`, async (t) => {
    if (!node) return t.skip('it is not installed');
    const program = await programIn(await folderWithPackages(t), `Edge ${version}`);
    const { stdout } = await command(HERE, node, 'run_on_edge.js', program);
    const { types, ...result } = JSON.parse(stdout);
    const expected = ['undefined', 'undefined', 'undefined', 'undefined'];
    assert.deepEqual(types.slice(0, 4), expected, 'the runtime has more than an edge runtime');
    assert.deepEqual(result, {
      seq: 1,
      texts: ['Hello from the edge', ANSWER],
      isLive: true,
      status: 404,
    });
  });
