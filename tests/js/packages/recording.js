// Frames of the product as a fixture: as few as show every shape, with stable ids and times.

import { linesOf, shapesOf } from '../../../clients/js/client/tests/model/frame_shapes.js';

const ID = /\b([a-z]{3})_[0-9A-HJKMNP-TV-Z]{20,}\b/g;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const FIRST_TIME = Date.UTC(2026, 0, 1);
const LONGEST = 80;

/** The frames by type, and those of a type in the order in which they came. */
export function fixtureOf(frames) {
  const byType = new Map();
  for (const frame of frames) {
    const chosen = byType.get(frame.type) ?? [];
    if (isNews(chosen, frame)) byType.set(frame.type, [...chosen, frame]);
  }
  const types = [...byType.keys()].sort();
  return stable(types.flatMap((type) => byType.get(type)));
}

const isNews = (chosen, frame) =>
  linesOf(shapesOf([...chosen, frame])).join() !== linesOf(shapesOf(chosen)).join();

// Ids are counted, times follow each other by a second, and long texts are cut.
function stable(frames) {
  const times = new Set();
  JSON.stringify(frames, (_, value) => {
    if (typeof value === 'string' && TIME.test(value)) times.add(value);
    return value;
  });
  const ranks = new Map([...times].sort().map((time, rank) => [time, rank]));
  const ids = new Map();
  const idOf = (id, prefix) => {
    if (!ids.has(id)) ids.set(id, `${prefix}_${ids.size + 1}`);
    return ids.get(id);
  };
  const shown = (value) => {
    const rank = ranks.get(value);
    if (rank !== undefined) return new Date(FIRST_TIME + rank * 1000).toISOString();
    return value.replace(ID, idOf).slice(0, LONGEST);
  };
  const copied = (value) => {
    if (typeof value === 'string') return shown(value);
    if (Array.isArray(value)) return value.map(copied);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [shown(name), copied(each)]),
    );
  };
  return copied(frames);
}
