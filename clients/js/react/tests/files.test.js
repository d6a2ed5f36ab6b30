// Files that a person adds to a message, and the addresses of files.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fakeServer, SPACE_ID } from './fake_server.js';
import { clientOf, flavors, pageOf, settle } from './page.js';

const file = (name) => ({ name, type: 'text/plain', data: 'x' });

for (const flavor of flavors) {
  const { name, React, hooks } = flavor;
  const { createElement: h } = React;

  /** A page with one component, which calls the hook that `use` returns. */
  function open(use) {
    const server = fakeServer();
    const page = pageOf(flavor);
    const client = clientOf(flavor, server);
    const seen = { renders: 0 };
    function Shown({ given }) {
      seen.now = use(given);
      seen.renders += 1;
      return null;
    }
    const show = (given) =>
      page.render(h(hooks.SmartspaceProvider, { client }, h(Shown, { given })));
    return { ...server, page, client, seen, show };
  }

  /** The same with a space whose uploads a test ends. */
  async function openUploads() {
    const opened = open(() => hooks.useUploads(SPACE_ID));
    const space = opened.client.space(SPACE_ID);
    const calls = [];
    space.attach = (given, options) =>
      new Promise((resolve, reject) => calls.push({ given, options, resolve, reject }));
    await opened.show();
    const { seen } = opened;
    const shown = () =>
      seen.now.uploads.map(({ name, status, progress }) => `${name} ${status} ${progress}`);
    return { ...opened, calls, shown };
  }

  test(`${name}: uploads show their progress, and are taken when they are ready`, async () => {
    const { page, seen, calls, shown } = await openUploads();
    assert.deepEqual([seen.now.uploads, seen.now.isReady], [[], true]);
    const { add, take } = seen.now;
    await settle(flavor, () => add([file('one'), file('two')], { original: true }));
    assert.deepEqual(shown(), ['one uploading 0', 'two uploading 0']);
    assert.equal(calls[0].options.original, true);
    await settle(flavor, () => calls[0].options.onProgress(0.5));
    assert.deepEqual(shown(), ['one uploading 0.5', 'two uploading 0']);
    await settle(flavor, () => calls[0].resolve({ id: 'att_1' }));
    await settle(flavor, () => calls[1].reject(new Error('It is too large.')));
    assert.deepEqual(shown(), ['one ready 1', 'two failed 0']);
    assert.equal(seen.now.isReady, false);
    assert.equal(seen.now.uploads[1].error.message, 'It is too large.');

    await settle(flavor, () => seen.now.uploads[1].retry());
    await settle(flavor, () => seen.now.uploads.forEach(({ retry }) => retry()));
    assert.deepEqual(shown(), ['one ready 1', 'two uploading 0']);
    assert.equal(calls.length, 3, 'only a failed file is uploaded again');
    assert.equal(seen.now.uploads[1].error, null);
    await settle(flavor, () => calls[2].resolve({ id: 'att_2' }));
    assert.equal(seen.now.isReady, true);
    let taken;
    await settle(flavor, () => (taken = take()));
    assert.deepEqual([taken, shown()], [[{ id: 'att_1' }, { id: 'att_2' }], []]);
    assert.deepEqual([seen.now.add, seen.now.take], [add, take]);
    await page.unmount();
  });

  test(`${name}: an upload that is removed ends, and others stay over an unmount`, async () => {
    const { page, seen, calls, show, shown } = await openUploads();
    await settle(flavor, () => seen.now.add([file('one'), file('two')]));
    await settle(flavor, () => seen.now.uploads[0].remove());
    assert.equal(calls[0].options.signal.aborted, true);
    await settle(flavor, () => calls[0].reject(calls[0].options.signal.reason));
    assert.deepEqual(shown(), ['two uploading 0']);
    await page.render(null);
    calls[1].resolve({ id: 'att_2' });
    await settle(flavor);
    await show();
    assert.deepEqual(shown(), ['two ready 1']);
    await page.unmount();
  });

  test(`${name}: the address of a file is renewed before it ends`, async (t) => {
    const { page, seen, show, advance } = open((id) => hooks.useFileUrl(id, SPACE_ID));
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const pass = (ms) =>
      settle(flavor, () => {
        advance(ms);
        t.mock.timers.tick(ms);
      });
    await show('att_1');
    assert.deepEqual(
      [seen.now.url, seen.now.isLoading, seen.now.error],
      ['https://storage.example/1', false, null],
    );
    const { renders } = seen;
    for (let minute = 0; minute < 13; minute += 1) await pass(60_000);
    // React may render once more before it finds that nothing has changed.
    assert.ok(seen.renders <= renders + 1);
    assert.equal(seen.now.url, 'https://storage.example/1');
    await pass(60_000);
    assert.equal(seen.now.url, 'https://storage.example/2');
    await settle(flavor, () => seen.now.renew());
    assert.equal(seen.now.url, 'https://storage.example/3');
    await show(null);
    assert.deepEqual([seen.now.url, seen.now.isLoading], [null, false]);
    // A renewal counts once: the address that it brought is still good.
    await show('att_1');
    assert.equal(seen.now.url, 'https://storage.example/3');
    await page.unmount();
  });

  test(`${name}: a file that is gone is an error`, async () => {
    const { page, seen, show } = open((id) => hooks.useFileUrl(id, SPACE_ID));
    await show('att_gone');
    assert.deepEqual([seen.now.url, seen.now.isLoading, seen.now.error.status], [null, false, 404]);
    await page.unmount();
  });
}
