// The packages as they are published: contents, types, exports and sizes.

import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { HERE, MODULES, WORKSPACE, command, folderWithPackages, packed } from './packages.js';

const MOST_BYTES = { client: 24_576, react: 3482, error: 1024 };
const TSC = `${MODULES}typescript/bin/tsc`;
const ATTW = `${MODULES}@arethetypeswrong/cli/dist/index.js`;

test('the packages hold what is built, a README and the license', async () => {
  for (const [name, tarball] of Object.entries(await packed())) {
    const { stdout } = await command(HERE, 'tar', '-tzf', tarball);
    const files = stdout
      .trim()
      .split('\n')
      .map((file) => file.replace('package/', ''));
    const top = [...new Set(files.map((file) => file.split('/')[0]))].sort();
    assert.deepEqual(top, ['LICENSE', 'README.md', 'dist', 'package.json'], name);
    const strange = files.filter((file) => /^dist\//.test(file) && !/\.(js|d\.ts)$/.test(file));
    assert.deepEqual(strange, [], name);
  }
});

test('the client has no dependencies, and the hooks depend on the client', async (t) => {
  const folder = await folderWithPackages(t);
  const manifest = async (name) =>
    JSON.parse(await readFile(`${folder}/node_modules/@smartspace/${name}/package.json`, 'utf8'));
  const [client, react] = [await manifest('client'), await manifest('react')];
  assert.deepEqual([client.dependencies, client.peerDependencies], [undefined, undefined]);
  assert.deepEqual(react.dependencies, {
    '@smartspace/client': client.version,
  });
  assert.deepEqual(Object.keys(react.peerDependencies), ['react']);
});

test('every way to resolve the packages finds their types', async () => {
  for (const tarball of Object.values(await packed()))
    await command(HERE, process.execPath, ATTW, tarball, '--profile', 'esm-only', '--no-emoji');
});

for (const [moduleResolution, module] of [
  ['bundler', 'esnext'],
  ['node16', 'node16'],
])
  test(`a program compiles with the module resolution ${moduleResolution}`, async (t) => {
    const folder = await folderWithPackages(t, 'react', '@types/react');
    await writeFile(`${folder}/package.json`, '{"type": "module"}');
    await writeFile(`${folder}/consumer.tsx`, CONSUMER);
    const options = {
      moduleResolution,
      module,
      jsx: 'react-jsx',
      target: 'es2022',
      types: [],
    };
    const compilerOptions = { ...options, strict: true, noEmit: true };
    await writeFile(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions }));
    await command(folder, process.execPath, TSC, '-p', '.');
  });

const CONSUMER = `
import { SmartspaceError, createClient, type Message, type TimelineItem } from '@smartspace/client';
import { SmartspaceProvider, useSend, useTimeline } from '@smartspace/react';

const client = createClient({ url: 'http://127.0.0.1', token: async () => 'token' });
const item: TimelineItem | undefined = client.space('spc_1').timeline.getSnapshot().items[0];
const text: string | null = item?.type === 'pending' ? item.send.text : null;
client.space('spc_1').send('Hello').then(
  (message: Message) => message.seq.toFixed(),
  (error: unknown) => error instanceof SmartspaceError && error.status.toFixed(),
);
// @ts-expect-error A client needs an address.
createClient({ token: 'token' });

function Room({ id }: { id: string }) {
  const { items, loadOlder } = useTimeline(id);
  const send = useSend(id);
  return <p onClick={() => (loadOlder(), send('Hello'))}>{items.length + (text ?? '')}</p>;
}
export const app = <SmartspaceProvider client={client}><Room id="spc_1" /></SmartspaceProvider>;
`;

/** The minified bundle of a module that imports the packages. */
async function bundleOf(t, source, external = []) {
  const folder = await folderWithPackages(t);
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: folder },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    external,
  });
  return outputFiles[0].contents;
}

test('a bundle has only what it imports', async (t) => {
  const imported = "import { SmartspaceError } from '@smartspace/client';";
  const source = `${imported} throw new SmartspaceError(404);`;
  const { length } = await bundleOf(t, source);
  t.diagnostic(`SmartspaceError alone: ${length} bytes`);
  assert.ok(length <= MOST_BYTES.error, `${length} bytes`);
});

test('the packages are small', async (t) => {
  const sizes = {};
  for (const [name, external] of [
    ['client', []],
    ['react', ['react', '@smartspace/client']],
  ]) {
    const bundle = await bundleOf(t, `export * from '@smartspace/${name}';`, external);
    const { length } = gzipSync(bundle, { level: 9 });
    t.diagnostic(`${name}: ${bundle.length} bytes minified, ${length} gzipped`);
    sizes[name] = length;
  }
  for (const [name, length] of Object.entries(sizes))
    assert.ok(length <= MOST_BYTES[name], `${name} has ${length} bytes`);
});

test('only the client talks to the network', async () => {
  for (const folder of ['react/src', 'console/src'])
    for (const file of await readdir(WORKSPACE + folder, { recursive: true })) {
      if (!/\.tsx?$/.test(file)) continue;
      const text = await readFile(`${WORKSPACE}${folder}/${file}`, 'utf8');
      assert.doesNotMatch(text, /\bfetch\(|\bWebSocket\b/, `${folder}/${file}`);
    }
});
