// Records docs/console.gif: a short scene in the demo space, from the first message to an answered
// question. Run it by hand after a change that the picture should show:
//
//     npm ci && SMARTSPACE_BIN=../../target/debug/smartspace node recording.js [FILE]

import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import gifenc from 'gifenc';
import { chromium } from 'playwright-core';
import { PNG } from 'pngjs';
import { startProduct } from './product.js';

const { GIFEncoder } = gifenc;

const SIZE = { width: 960, height: 600 };
const FRAME_MS = 200;
const LAST_FRAME_MS = 2000;
const KEY_MS = 40;
const COLORS = 255;
// The palette's last index: a pixel that keeps the color of the frame before.
const UNCHANGED = COLORS;

/** Plays the scene and returns its frames: `{at, pixels}`, with `at` in milliseconds. */
async function record(browser, { base, adminKey }) {
  const context = await browser.newContext({
    viewport: SIZE,
    locale: 'en-GB',
    timezoneId: 'UTC',
    colorScheme: 'light',
  });
  const page = await context.newPage();
  await page.goto(`${base}/#key=${adminKey}`);
  await page.locator('#status[data-status="live"]').waitFor();
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  await page.evaluate(showPointer);

  const recorder = new Recorder(page);
  await play(page);
  return recorder.stop();
}

/** The scene. */
async function play(page) {
  const pointer = new Pointer(page);
  const agent = page.locator('.bubble.agent');
  const idle = () => page.locator('#working li').first().waitFor({ state: 'detached' });
  const say = async (text) => {
    const box = page.getByRole('textbox', { name: 'Message' });
    await pointer.click(box);
    await box.pressSequentially(text, { delay: KEY_MS });
    await delay(300);
    await box.press('Enter');
  };

  await delay(400);
  await say('Hello! Who is here?');
  await agent.locator('.entry[data-state="stored"]').first().waitFor();
  await idle();
  await delay(800);
  await say('Time for a coffee?');
  const yes = page.getByRole('button', { name: 'Yes, please' });
  await yes.waitFor();
  await delay(700);
  await pointer.click(yes);
  await pointer.move(SIZE.width * 0.75, SIZE.height * 0.72);
  await agent.locator('.entry[data-state="stored"] .text').nth(1).waitFor();
  await idle();
  await delay(300);
}

/** Moves a drawn pointer along with the mouse, because screenshots have none. */
class Pointer {
  #page;
  #x = SIZE.width * 0.6;
  #y = SIZE.height * 0.5;

  constructor(page) {
    this.#page = page;
  }

  async click(target) {
    await target.scrollIntoViewIfNeeded();
    const box = await target.boundingBox();
    await this.move(box.x + Math.min(box.width / 2, 120), box.y + box.height / 2);
    await delay(150);
    await this.#page.mouse.click(this.#x, this.#y);
  }

  async move(x, y) {
    const [fromX, fromY, steps] = [this.#x, this.#y, 10];
    for (let step = 1; step <= steps; step += 1) {
      const part = step / steps;
      await this.#page.mouse.move(fromX + (x - fromX) * part, fromY + (y - fromY) * part);
      await delay(25);
    }
    [this.#x, this.#y] = [x, y];
  }
}

// Runs in the page: an arrow that follows the mouse.
function showPointer() {
  const svg = 'http://www.w3.org/2000/svg';
  const arrow = document.createElementNS(svg, 'svg');
  const shape = document.createElementNS(svg, 'path');
  shape.setAttribute('d', 'M1 1 L1 17 L5 13.5 L7.8 20 L10.6 18.8 L7.8 12.5 L13 12.5 Z');
  shape.setAttribute('fill', '#000');
  shape.setAttribute('stroke', '#fff');
  arrow.append(shape);
  const fixed = {
    position: 'fixed',
    width: '16px',
    height: '22px',
    zIndex: '1',
    display: 'none',
  };
  Object.assign(arrow.style, fixed, { pointerEvents: 'none' });
  document.body.append(arrow);
  document.addEventListener('mousemove', ({ clientX, clientY }) => {
    Object.assign(arrow.style, {
      left: `${clientX}px`,
      top: `${clientY}px`,
      display: 'block',
    });
  });
}

/** Takes screenshots, one after the other, until it is stopped. */
class Recorder {
  #page;
  #frames = [];
  #isStopped = false;
  #done;

  constructor(page) {
    this.#page = page;
    this.#done = this.#run();
  }

  /** Returns the frames. */
  async stop() {
    this.#isStopped = true;
    await this.#done;
    return this.#frames;
  }

  async #run() {
    while (!this.#isStopped) {
      const at = performance.now();
      const png = PNG.sync.read(await this.#page.screenshot());
      this.#frames.push({ at, pixels: new Uint8Array(png.data) });
      await delay(Math.max(0, at + FRAME_MS - performance.now()));
    }
  }
}

/** The frames as a GIF that loops. Each frame draws only the pixels that changed. */
function encode(frames) {
  const { palette, indexesOf } = paletteOf(frames);
  const shown = frames
    .map(({ at, pixels }) => ({ at, indexes: indexesOf(pixels) }))
    .filter(({ indexes }, n, all) => n === 0 || !isSame(indexes, all[n - 1].indexes));
  const gif = GIFEncoder();
  shown.forEach(({ at, indexes }, n) => {
    const before = shown[n - 1]?.indexes;
    gif.writeFrame(before ? difference(indexes, before) : indexes, SIZE.width, SIZE.height, {
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

const output = process.argv[2] ?? fileURLToPath(new URL('../../docs/console.gif', import.meta.url));

const product = await startProduct();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-lcd-text', '--no-first-run'],
});
try {
  const frames = await record(browser, product);
  await writeFile(output, encode(frames));
  console.log(`${output}: ${frames.length} frames`);
} finally {
  await browser.close();
  await product.stop();
}
