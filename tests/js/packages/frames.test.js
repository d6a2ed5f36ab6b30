// The frames of the product against the types of the client: no field is unknown or missing.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startProduct } from '../product.js';
import { MODULES, command, folderWithPackages } from './packages.js';
import { playScene } from './scene.js';

const TSC = `${MODULES}typescript/bin/tsc`;
const EXPECTED = `
  accepted attachment.ready error goodbye member.joined member.left message.created
  message.updated pong presence run.canceled run.completed run.failed run.queued run.resumed
  run.started run.step run.waiting_tool sent space.deleted space.joined space.left space.read
  space.updated stream.delta stream.ended stream.snapshot stream.started subscribed
  system.message tool.requested tool.resolved unsubscribed
`;

// Ids, times, numbers and texts do not matter for the types; short words may be members of a union.
const shapeOf = (value) =>
  JSON.stringify(value, (_, part) => {
    if (typeof part === 'number') return 0;
    return typeof part === 'string' && !/^[a-z_.]{1,20}$/i.test(part) ? '…' : part;
  });

test('every frame fits its type', async (t) => {
  const product = await startProduct('--no-rate-limit');
  t.after(product.stop);
  const frames = await playScene(product);
  const shapes = new Map(frames.map((frame) => [shapeOf(frame), frame]));
  t.diagnostic(`${frames.length} frames of ${shapes.size} shapes`);

  await t.test('the scene shows every kind of frame', () => {
    const seen = new Set(frames.map(({ type }) => type));
    const missing = EXPECTED.trim()
      .split(/\s+/)
      .filter((type) => !seen.has(type));
    assert.deepEqual(missing, []);
  });

  await t.test('the compiler accepts the frames', async (t) => {
    const folder = await folderWithPackages(t);
    const lines = [...shapes.values()].map((frame) => `  ${JSON.stringify(frame)},`);
    const source = [
      "import type { ServerFrame } from '@smartspace/client';",
      '',
      'export const frames: ServerFrame[] = [',
      ...lines,
      '];',
      '// Every kind of frame is in the list of the test.',
      `type Expected = ${EXPECTED.trim()
        .split(/\s+/)
        .map((type) => `'${type}'`)
        .join(' | ')};`,
      "export const known = (type: ServerFrame['type']): Expected => type;",
    ];
    await writeFile(`${folder}/package.json`, '{"type": "module"}');
    await writeFile(`${folder}/frames.ts`, `${source.join('\n')}\n`);
    const flags = ['--strict', '--noEmit', '--exactOptionalPropertyTypes', '--module', 'node16'];
    await command(folder, process.execPath, TSC, ...flags, 'frames.ts').catch((error) => {
      const places = error.message.matchAll(/frames\.ts\((\d+)/g);
      const wrong = new Set([...places].map(([, line]) => line));
      throw new Error(`${error.message}\n${[...wrong].map((line) => source[line - 1]).join('\n')}`);
    });
  });
});
