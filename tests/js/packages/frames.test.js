// The frames of the product against the types of the client: no field is unknown or missing. And
// against the recorded frames from which the client's tests build theirs: with `UPDATE_FRAMES=1`
// they are recorded anew.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { linesOf, shapesOf } from '../../../clients/js/client/tests/model/frame_shapes.js';
import { startProduct } from '../product.js';
import { startHeldModel } from './held_model.js';
import { MODULES, WORKSPACE, command, folderWithPackages } from './packages.js';
import { fixtureOf } from './recording.js';
import { playFlood, playScene } from './scene.js';

const RECORDED = `${WORKSPACE}client/tests/model/recorded_frames.json`;
const TSC = `${MODULES}typescript/bin/tsc`;
const EXPECTED = `
  accepted attachment.ready error goodbye inbox member.joined member.left mention message.created
  message.updated pong presence reactions run.canceled run.completed run.failed run.queued
  run.resumed run.started run.step run.waiting_tool sent space.activity space.deleted space.joined
  space.left space.line space.read space.updated stream.delta stream.ended stream.snapshot
  stream.started subscribed system.message tool.requested tool.resolved unsubscribed
`;

// Ids, times, numbers and texts do not matter for the types; short words may be members of a union.
const shapeOf = (value) =>
  JSON.stringify(value, (_, part) => {
    if (typeof part === 'number') return 0;
    return typeof part === 'string' && !/^[a-z_.]{1,20}$/i.test(part) ? '…' : part;
  });

test('every frame fits its type', async (t) => {
  const frames = await playedFrames(t);
  const shapes = new Map(frames.map((frame) => [shapeOf(frame), frame]));
  t.diagnostic(`${frames.length} frames of ${shapes.size} shapes`);

  await t.test('the scene shows every kind of frame', () => {
    const seen = new Set(frames.map(({ type }) => type));
    const missing = EXPECTED.trim()
      .split(/\s+/)
      .filter((type) => !seen.has(type));
    assert.deepEqual(missing, []);
  });

  await t.test('the recorded frames have the shapes of these', async () => {
    if (process.env.UPDATE_FRAMES)
      await writeFile(RECORDED, `${JSON.stringify(fixtureOf(frames), null, 2)}\n`);
    const recorded = JSON.parse(await readFile(RECORDED, 'utf8'));
    assert.deepEqual(
      linesOf(shapesOf(recorded)),
      linesOf(shapesOf(frames)),
      'record them anew: UPDATE_FRAMES=1 tests/run packages',
    );
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

async function playedFrames(t) {
  const model = await startHeldModel();
  t.after(model.stop);
  const product = await startProduct('--no-rate-limit', ...model.flags);
  t.after(product.stop);
  const limited = await startProduct();
  t.after(limited.stop);
  return [...(await playFlood(limited)), ...(await playScene(product, model))];
}
