// What the tests of one file share, from before the first until after the last. To import this, or what stands on it, is all the set-up.

import { after, before } from 'node:test';
import { chromium } from 'playwright-core';
import { startProduct } from './product.js';
import { World } from './world.js';

const FLAGS = [
  '--headless',
  '--no-sandbox', // the suite may run as root, in a container
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
];

// All are there within hooks and tests, not yet while a file loads.

/** The product: `{base, adminKey, jwtSecret}`. */
export let product;

/** What makes people, agents and spaces in it. */
export let world;

/** Two people of it. */
export let husam;
export let sarah;

/** The browser; `openTab` opens its pages. */
export let browser;

// One hook for all of it: Node 20 runs the hooks of a file side by side.
before(async () => {
  product = await startProduct();
  world = new World(product);
  husam = await world.person('Husam');
  sarah = await world.person('Sarah');
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
});

after(async () => {
  await browser?.close();
  await product?.stop();
});
