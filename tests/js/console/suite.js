// Sets up what the tests of one file share: the product, two people and a browser. Importing this
// file is enough.

import { after, before } from 'node:test';
import { chromium } from 'playwright-core';
import { ApiClient } from '../api_client.js';
import { startProduct } from '../product.js';

const FLAGS = [
  '--headless',
  '--no-sandbox', // The suite may run as root, in a container.
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
];

// These are set in hooks and tests, not yet while a file loads.

/** The product: `{base, adminKey, jwtSecret}`. */
export let product;

/** The client for the product's API. */
export let api;

/** Two people. */
export let husam;
export let sarah;

/** The browser. `openTab` opens its pages. */
export let browser;

// A single hook, because Node 20 runs the hooks of a file concurrently.
before(async () => {
  product = await startProduct();
  api = new ApiClient(product);
  husam = await api.createPerson('Husam');
  sarah = await api.createPerson('Sarah');
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
  });
});

after(async () => {
  await browser?.close();
  await product?.stop();
});
