// Takes screenshots of a page while a scene plays, and plays the scene at a person's pace.

import { setTimeout as delay } from 'node:timers/promises';
import { PNG } from 'pngjs';

const FRAME_MS = 200;
const KEY_MS = 40;
const LOOK_MS = 1500;

/** An actor of the scenes: it moves a drawn pointer, because screenshots have none. */
export class Actor {
  #page;
  #box;
  #x;
  #y;

  constructor(page, { width, height }) {
    this.#page = page;
    this.#box = page.getByRole('textbox', { name: 'Message' });
    [this.#x, this.#y] = [width * 0.6, height * 0.5];
  }

  look() {
    return delay(LOOK_MS);
  }

  async click(target) {
    await target.hover();
    const box = await target.boundingBox();
    await this.#move(box.x + Math.min(box.width / 2, 120), box.y + box.height / 2);
    await delay(150);
    await this.#page.mouse.click(this.#x, this.#y);
    await delay(300);
  }

  async type(text, field = this.#box) {
    await this.click(field);
    await field.pressSequentially(text, { delay: KEY_MS });
    await delay(300);
  }

  async press(key) {
    await this.#page.keyboard.press(key);
  }

  async say(text) {
    await this.type(text);
    await this.press('Enter');
  }

  async #move(x, y) {
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
export function showPointer() {
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
export class Recorder {
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
