// Frames as the product sends them. `recorded_frames.json` has frames of the product, which
// tests/js/packages/frames.test.js records. What no recorded frame has, no test may play.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isAlways, shapesOf, typeOf, visitObjects } from './frame_shapes.js';

const FILE = new URL('recorded_frames.json', import.meta.url);

/** The recorded frames. */
export const RECORDED = JSON.parse(readFileSync(FILE, 'utf8'));

const SHAPES = shapesOf(RECORDED);
// The fields that all recorded objects of a kind have, with the values that stand for them.
const DEFAULTS = new Map([...SHAPES].map(([kind, shape]) => [kind, defaultsOf(shape)]));

function defaultsOf(shape) {
  const always = [...shape.fields].filter(([name]) => isAlways(shape, name));
  return always.map(([name, { types, sample }]) => [name, types.has('null') ? null : sample]);
}

/**
 * A frame with these fields, and with all others that the product always sends: null if a recorded
 * frame has null there, or else the recorded value. `about` has fields for the types that have
 * them. Fails if the product does not send such a frame.
 */
export function recorded(given, about = {}) {
  const shape = SHAPES.get(given.type);
  assert.ok(shape, `no frame of the type ${given.type} is recorded`);
  const known = Object.entries(about).filter(([name]) => shape.fields.has(name));
  const frame = JSON.parse(JSON.stringify({ ...Object.fromEntries(known), ...given }));
  visitObjects(frame, (kind, object) => complete(frame, kind, object));
  return frame;
}

function complete(frame, kind, object) {
  const shape = SHAPES.get(kind);
  assert.ok(shape, `no ${kind} is recorded: ${JSON.stringify(frame)}`);
  for (const [name, value] of Object.entries(object)) {
    const types = shape.fields.get(name)?.types;
    if (types?.has(typeOf(value))) continue;
    const known = types ? [...types].join(' or ') : 'not there';
    assert.fail(`${kind}.${name} is ${typeOf(value)} here, and ${known} in recorded frames`);
  }
  for (const [name, value] of DEFAULTS.get(kind))
    if (!(name in object)) object[name] = structuredClone(value);
}
