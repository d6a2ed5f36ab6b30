// The five moments that the console is for. `npm run record` makes pictures of the same scenes.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTab } from './console_page.js';
import { startFakeModel } from './moments/fake_model.js';
import * as scenes from './moments/scenes.js';
import { startProduct } from '../product.js';

// A tester waits for nothing but for what shows.
const actorOf = (page) => {
  const box = page.getByRole('textbox', { name: 'Message' });
  return {
    look: async () => {},
    click: (target) => target.click(),
    type: (text, field = box) => field.fill(text),
    press: (key) => box.press(key),
    async say(text) {
      await box.fill(text);
      await box.press('Enter');
    },
  };
};

const play = (name, title, options) =>
  test(title, async (t) => {
    const scene = scenes[name];
    const folder = await mkdtemp(join(tmpdir(), 'smartspace-moment-'));
    const model = scene.needsModel ? await startFakeModel() : null;
    const flags = scene.needsData ? ['--data', join(folder, 'data')] : [];
    const environment = model ? { OPENAI_BASE_URL: model.url } : {};
    const product = await startProduct(...flags, { environment });
    let page;
    // Not a hook: hooks after one that fails are not run, and the product would go on.
    try {
      page = await openTab(t, options);
      await scenes.open(scene, page, product);
      await scene.play({ page, product, actor: actorOf(page) });
      const answers = page.locator('.bubble.agent .entry[data-state="stored"]');
      if (name === 'survival') assert.equal(await answers.count(), 1);
    } finally {
      await page?.close();
      await product.stop();
      model?.stop();
      await rm(folder, { recursive: true });
    }
  });

play('first', 'a first conversation');
play('why', 'why in one click');
play('rollCall', 'the roll call');
play('chain', 'the chain');
play('fork', 'fork here');
play('survival', 'surviving a kill', { expected: [/ERR_CONNECTION/, /WebSocket/] });
