// Encodes screenshots as a GIF.

import gifenc from 'gifenc';

const { GIFEncoder } = gifenc;

const LAST_FRAME_MS = 2500;
const COLORS = 255;
// The palette's last index: a pixel that keeps the color of the frame before.
const UNCHANGED = COLORS;

/**
 * The frames (`{at, pixels}`, in milliseconds and RGBA) as a GIF that loops. Each frame draws only
 * the pixels that changed.
 */
export function encode(frames, { width, height }) {
  const { palette, indexesOf } = paletteOf(frames);
  const shown = frames
    .map(({ at, pixels }) => ({ at, indexes: indexesOf(pixels) }))
    .filter(({ indexes }, n, all) => n === 0 || !isSame(indexes, all[n - 1].indexes));
  const gif = GIFEncoder();
  shown.forEach(({ at, indexes }, n) => {
    const before = shown[n - 1]?.indexes;
    gif.writeFrame(before ? difference(indexes, before) : indexes, width, height, {
      palette: n === 0 ? palette : undefined,
      delay: n + 1 < shown.length ? shown[n + 1].at - at : LAST_FRAME_MS,
      transparent: n > 0,
      transparentIndex: UNCHANGED,
      dispose: 1,
    });
  });
  gif.finish();
  return gif.bytes();
}

/**
 * The most frequent colors, which keep plain areas exact. A rare color, at the edge of a letter,
 * becomes the nearest of them.
 */
function paletteOf(frames) {
  const counts = new Uint32Array(1 << 24);
  for (const { pixels } of frames) for (const color of colorsOf(pixels)) counts[color] += 1;
  const found = [...counts.keys()].filter((color) => counts[color] > 0);
  const chosen = found.sort((one, other) => counts[other] - counts[one]).slice(0, COLORS);
  const palette = Array.from({ length: UNCHANGED + 1 }, (_, n) => channelsOf(chosen[n] ?? 0));
  const nearest = (color) => {
    const distance = (n) => distanceOf(palette[n], channelsOf(color));
    return [...chosen.keys()].reduce((best, n) => (distance(n) < distance(best) ? n : best));
  };
  const indexes = new Map(found.map((color) => [color, nearest(color)]));
  const indexesOf = (pixels) => Uint8Array.from(colorsOf(pixels), (color) => indexes.get(color));
  return { palette, indexesOf };
}

/** The colors of RGBA pixels, as 24-bit numbers. */
function colorsOf(pixels) {
  const colors = new Uint32Array(pixels.length / 4);
  for (let n = 0; n < colors.length; n += 1) {
    colors[n] = (pixels[4 * n] << 16) | (pixels[4 * n + 1] << 8) | pixels[4 * n + 2];
  }
  return colors;
}

const channelsOf = (color) => [color >> 16, (color >> 8) & 255, color & 255];

const distanceOf = (one, other) =>
  one.reduce((sum, channel, n) => sum + (channel - other[n]) ** 2, 0);

const isSame = (one, other) => Buffer.compare(one, other) === 0;

const difference = (indexes, before) =>
  indexes.map((index, n) => (index === before[n] ? UNCHANGED : index));
