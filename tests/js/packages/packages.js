// The packages as npm packs them, and folders in which they are installed.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LIMIT_MS = 180_000;

/** This folder, the packages of these tests and the workspace, with a slash at the end. */
export const HERE = fileURLToPath(new URL('.', import.meta.url));
export const MODULES = fileURLToPath(new URL('../node_modules/', import.meta.url));
export const WORKSPACE = fileURLToPath(new URL('../../../clients/js/', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));

/** Runs a command. A failure's message has what the command printed. */
export async function command(cwd, name, ...args) {
  try {
    return await run(name, args, {
      cwd,
      timeout: LIMIT_MS,
      maxBuffer: 2 ** 24,
    });
  } catch (error) {
    throw new Error(`${error.message}\n${error.stdout}`);
  }
}

/** Builds and packs the packages, once for each state of their sources: `{client, react}`. */
export async function packed() {
  const cache = `${MODULES}.packed`;
  const folder = `${cache}/${await hashOf(['client', 'react', 'build.js', 'tsconfig.json'])}`;
  const tarballs = async () => {
    const names = await readdir(folder);
    const of = (name) => `${folder}/${names.find((each) => each.startsWith(`smartspace-${name}`))}`;
    return { client: of('client'), react: of('react') };
  };
  const known = await tarballs().catch(() => null);
  if (known) return known;
  await rm(cache, { recursive: true, force: true });
  const unfinished = `${cache}/unfinished`;
  await mkdir(unfinished, { recursive: true });
  await command(WORKSPACE, 'npm', 'run', 'build');
  const to = ['--pack-destination', unfinished];
  await command(WORKSPACE, 'npm', 'pack', '-w', 'client', '-w', 'react', ...to);
  await rename(unfinished, folder);
  return tarballs();
}

async function hashOf(names) {
  const hash = createHash('sha256');
  for (const name of names.sort()) {
    if (/^(dist|node_modules|tests)$/.test(name.split('/').at(-1))) continue;
    const inside = await readdir(WORKSPACE + name).catch(() => null);
    const more = inside?.map((each) => `${name}/${each}`);
    hash.update(`${name}\n`).update(more ? await hashOf(more) : await readFile(WORKSPACE + name));
  }
  return hash.digest('hex').slice(0, 16);
}

/** A temporary folder that is deleted after the test. */
export async function temporaryFolder(test) {
  const folder = await mkdtemp(`${tmpdir()}/smartspace-clients-`);
  test.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A temporary folder in which the packed packages can be imported. `others` are packages of these
 * tests that can be imported there, too.
 */
export async function folderWithPackages(test, ...others) {
  const folder = await temporaryFolder(test);
  for (const [name, tarball] of Object.entries(await packed())) {
    const into = `${folder}/node_modules/@smartspace/${name}`;
    await mkdir(into, { recursive: true });
    await command(into, 'tar', '-xzf', tarball, '--strip-components=1');
  }
  await mkdir(`${folder}/node_modules/@types`);
  for (const name of others) await symlink(`${MODULES}${name}`, `${folder}/node_modules/${name}`);
  return folder;
}

/**
 * A temporary copy of an example, installed with the packed packages. The versions of its other
 * dependencies are in `locks`.
 */
export async function installedExample(test, name) {
  const tarballs = await packed();
  const folder = await temporaryFolder(test);
  const isOwn = (path) => !/\/(node_modules|dist|package-lock\.json)$/.test(path);
  await cp(`${EXAMPLES}${name}`, folder, {
    recursive: true,
    filter: isOwn,
  });
  await cp(`${HERE}locks/${name}.json`, `${folder}/package-lock.json`);
  const flags = ['--prefer-offline', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
  await command(folder, 'npm', 'install', ...flags, ...Object.values(tarballs));
  return folder;
}
