// Who the caller is, also after a failure.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fakeServer } from './fake_server.js';
import { clientOf, flavors, pageOf, settle } from './page.js';

for (const flavor of flavors) {
  const { name, React, hooks } = flavor;
  const { createElement: h } = React;

  async function open(meStatuses) {
    const server = fakeServer({ meStatuses });
    const page = pageOf(flavor);
    const seen = {};
    function Me() {
      Object.assign(seen, hooks.useMe());
      return null;
    }
    const client = clientOf(flavor, server);
    await page.render(h(hooks.SmartspaceProvider, { client }, h(Me)));
    const asked = () => server.calls.filter((call) => call === 'GET /v1/me').length;
    return { server, page, seen, asked };
  }

  test(`${name}: useMe alone opens no connection`, async () => {
    const { server, page, seen, asked } = await open([]);
    assert.equal(seen.me.entity.name, 'Ann');
    assert.equal(asked(), 1);
    assert.equal(server.sockets.length, 0);
    await page.unmount();
  });

  test(`${name}: useMe asks again when the connection is live`, async () => {
    const { server, page, seen, asked } = await open([503]);
    assert.equal(seen.me.entity.name, 'Ann');
    assert.equal(seen.error, null);
    assert.equal(asked(), 2);
    server.advance(1000);
    assert.equal(server.open().length, 0, 'it leaves the connection');
    await page.unmount();
  });

  test(`${name}: useMe shows a failure that stays`, async () => {
    const { server, page, seen, asked } = await open([403, 403]);
    assert.equal(seen.isLoading, false);
    assert.equal(seen.error.status, 403);
    assert.equal(asked(), 2);
    await page.unmount();
    server.advance(1000);
    assert.equal(server.open().length, 0);
  });

  test(`${name}: useMe asks again while the connection stays live`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { page, seen, asked } = await open([503, 503, 503]);
    const pass = (ms) => settle(flavor, () => t.mock.timers.tick(ms));
    assert.deepEqual([asked(), seen.error.status], [2, 503]);
    await pass(5000);
    assert.deepEqual([asked(), seen.error.status], [3, 503]);
    await pass(5000);
    assert.deepEqual([asked(), seen.me?.entity.name, seen.error], [4, 'Ann', null]);
    await pass(60_000);
    assert.equal(asked(), 4);
    await page.unmount();
  });

  test(`${name}: useMe does not ask again for a caller that the server refused`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { page, asked } = await open([503, 403]);
    await settle(flavor, () => t.mock.timers.tick(60_000));
    assert.equal(asked(), 2);
    await page.unmount();
  });
}
