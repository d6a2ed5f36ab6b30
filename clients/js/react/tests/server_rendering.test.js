// A server renders the loading state and makes no call. The browser takes its page over.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { everyHook } from './every_hook.js';
import { fakeServer, SPACE_ID } from './fake_server.js';
import { SERVER_SCRIPT } from './flavors.js';
import { clientOf, flavors, heardErrors, settle } from './page.js';

const LOADING = { isLoading: true, error: null };
const renderOnServer = ({ file }) =>
  execFileSync(process.execPath, [SERVER_SCRIPT, file], { encoding: 'utf8' });
const shownIn = (container) => JSON.parse(container.textContent);

for (const flavor of flavors) {
  const { name, hydrateRoot } = flavor;

  function hydrate(html, client) {
    const container = document.createElement('div');
    container.innerHTML = html;
    document.body.append(container);
    const root = hydrateRoot(container, everyHook(flavor, client));
    return { container, root };
  }

  test(`${name}: a server renders the loading state`, () => {
    const container = document.createElement('div');
    container.innerHTML = renderOnServer(flavor);
    const shown = shownIn(container);
    assert.deepEqual(shown.spaces, { spaces: [], ...LOADING });
    assert.deepEqual(shown.space, { space: null, ...LOADING, isGone: false });
    assert.deepEqual(shown.timeline, { items: [], lines: [], hasOlder: false, ...LOADING });
    assert.deepEqual(shown.run, { run: null, step: null, ...LOADING });
    assert.deepEqual(shown.members, { members: [], ...LOADING });
    assert.deepEqual(shown.presence, { present: [], typing: [], count: 0 });
    assert.deepEqual(shown.runs, { active: [], outcomes: {}, hints: {}, costs: {} });
    assert.deepEqual(shown.forms, [{ forms: [] }, { forms: [] }]);
    assert.deepEqual(shown.inbox, { items: [], hasMore: false, ...LOADING });
    assert.deepEqual(shown.approval, { item: null, card: null });
    assert.deepEqual(shown.preview[0], { dispatch: [], ...LOADING });
    assert.deepEqual(shown.preview[1], { dispatch: [], isLoading: false, error: null });
    assert.deepEqual(shown.revisions, { revisions: [], ...LOADING });
    assert.deepEqual(shown.me, { me: null, ...LOADING });
    assert.deepEqual(shown.uploads, { uploads: [], isReady: true });
    assert.deepEqual(shown.fileUrls, [
      { url: null, isLoading: false, error: null },
      { url: null, ...LOADING },
    ]);
    assert.deepEqual(shown.stream, { text: '', done: true });
    assert.equal(shown.unread, 0);
    assert.equal(shown.connection, 'connecting');
  });

  test(`${name}: hydration finds the server's page, and then shows what is loaded`, async (t) => {
    const html = renderOnServer(flavor);
    const errors = heardErrors(t);
    const server = fakeServer();
    let page;
    await settle(flavor, () => (page = hydrate(html, clientOf(flavor, server))));
    assert.deepEqual(errors(), []);
    const shown = shownIn(page.container);
    assert.equal(shown.connection, 'live');
    assert.equal(shown.space.space.name, 'Kitchen');
    assert.equal(shown.timeline.items.filter(({ type }) => type === 'message').length, 3);
    assert.equal(shown.me.me.entity.name, 'Ann');
    assert.equal(shown.run.run.id, 'run_1');
    await settle(flavor, () => page.root.unmount());
  });

  test(`${name}: hydration with a client that has loaded already`, async (t) => {
    const html = renderOnServer(flavor);
    const errors = heardErrors(t);
    const client = clientOf(flavor, fakeServer());
    const stops = [client.spaces, client.space(SPACE_ID)].map((store) => store.subscribe(() => {}));
    await settle(flavor);
    assert.equal(client.space(SPACE_ID).getSnapshot().isLoading, false);
    let page;
    await settle(flavor, () => (page = hydrate(html, client)));
    assert.deepEqual(errors(), []);
    assert.equal(shownIn(page.container).space.space.name, 'Kitchen');
    await settle(flavor, () => page.root.unmount());
    stops.forEach((stop) => stop());
  });
}
