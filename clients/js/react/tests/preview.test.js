// Whom a text would wake: only the last text is asked.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fakeServer, SPACE_ID } from './fake_server.js';
import { clientOf, flavors, pageOf, settle } from './page.js';

const decisionFor = (agentId) => [{ agentId, runId: null, source: 'mention' }];

for (const flavor of flavors) {
  const { name, React, hooks } = flavor;
  const { createElement: h } = React;

  function open() {
    const server = fakeServer();
    const page = pageOf(flavor);
    const client = clientOf(flavor, server);
    const seen = {};
    function Preview({ text, options }) {
      Object.assign(seen, hooks.usePreview(SPACE_ID, text, options));
      return null;
    }
    const type = (text, options) =>
      page.render(h(hooks.SmartspaceProvider, { client }, h(Preview, { text, options })));
    return { ...server, page, seen, type };
  }

  test(`${name}: the preview asks for the last text, and aborts earlier ones`, async (t) => {
    const { previews, page, seen, type } = open();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const pass = (ms) => settle(flavor, () => t.mock.timers.tick(ms));

    await type('');
    await pass(1000);
    assert.deepEqual(seen, { dispatch: [], isLoading: false, error: null });

    await type('H');
    await pass(299);
    await type('Hi');
    await pass(299);
    assert.deepEqual(previews, []);
    assert.equal(seen.isLoading, true);
    await pass(1);
    assert.deepEqual(
      previews.map(({ text }) => text),
      ['Hi'],
    );

    await type('Hi @Guide');
    assert.equal(previews[0].isAborted, true);
    await settle(flavor, () => previews[0].answer(decisionFor('ent_early')));
    assert.deepEqual(seen, { dispatch: [], isLoading: true, error: null });
    await pass(300);
    assert.deepEqual(
      previews.map(({ text }) => text),
      ['Hi', 'Hi @Guide'],
    );
    await settle(flavor, () => previews[1].answer(decisionFor('ent_guide')));
    assert.deepEqual(seen, { dispatch: decisionFor('ent_guide'), isLoading: false, error: null });
    assert.equal(previews[1].isAborted, false);

    // The decision stays until there is another one.
    const { dispatch } = seen;
    await type('Hi @Guide!');
    assert.equal(seen.dispatch, dispatch);
    assert.equal(seen.isLoading, true);
    await pass(300);
    await page.unmount();
    assert.equal(previews[2].isAborted, true);
  });

  test(`${name}: another sender is another question`, async (t) => {
    const { previews, page, type } = open();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    for (const senderId of ['ent_one', 'ent_two', undefined]) {
      await type('Hi', senderId && { senderId });
      await settle(flavor, () => t.mock.timers.tick(300));
    }
    assert.deepEqual(
      previews.map((each) => each.senderId),
      ['ent_one', 'ent_two', undefined],
    );
    await page.unmount();
  });
}
