// The Python SDKs of MCP, unmodified, with many calls at once. `tests/run --all` installs them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { delimiter } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { scene } from './mcp_scene.js';

const PYTHONS = process.env.MCP_SDKS?.split(delimiter) ?? [];
const PROGRAM = fileURLToPath(new URL('mcp_waits.py', import.meta.url));

for (const generation of [1, 2]) {
  const python = PYTHONS[generation - 1];
  const skip = python ? false : 'the SDKs are not installed';
  for (const sdk of ['mcp', 'fastmcp']) {
    test(`${sdk} of generation ${generation} waits many times at once`, { skip }, async (t) => {
      const { product, space, bearer } = await scene(t, '--no-rate-limit');
      const token = bearer.authorization.replace('Bearer ', '');
      const words = [PROGRAM, sdk, `${product.base}/v1/mcp`, token, space.id];
      const { stdout } = await promisify(execFile)(python, ['-B', ...words]);
      const { seven, many, tools } = JSON.parse(stdout);
      assert.deepEqual(seven, Array(7).fill(false));
      const refused = many.filter(Boolean);
      assert.ok(refused.length > 0 && refused.length <= many.length - 12, JSON.stringify(many));
      assert.ok(tools >= 10, 'the session goes on');
    });
  }
}
