// The lifetime of the connection, and the error of a component without a provider.

import assert from 'node:assert/strict';
import test from 'node:test';
import { everyHook } from './every_hook.js';
import { fakeServer, SPACE_ID } from './fake_server.js';
import { clientOf, flavors, heardErrors, pageOf, settle } from './page.js';

const HOOKS_WITH_CLIENT = [
  'useClient',
  'useConnection',
  'useSpaces',
  'useUnread',
  'useInbox',
  'useApproval',
  'useMe',
];
const HOOKS_WITH_SPACE = [
  'useSpace',
  'useTimeline',
  'useStream',
  'useSend',
  'useAnswer',
  'useRuns',
  'useMembers',
  'usePresence',
  'useForms',
  'usePreview',
];

for (const flavor of flavors) {
  const { name, isReact, React, hooks, renderToString } = flavor;
  const { createElement: h } = React;

  test(`${name}: one socket, closed a second after the page has left`, async () => {
    const server = fakeServer();
    const page = pageOf(flavor);
    let mounts = 0;
    function Mounts() {
      React.useEffect(() => void (mounts += 1), []);
      return null;
    }
    const tree = everyHook(flavor, clientOf(flavor, server));
    await page.render(h(React.StrictMode, null, tree, h(Mounts)));
    assert.equal(mounts, isReact ? 2 : 1, 'StrictMode mounts twice');
    assert.equal(server.sockets.length, 1);
    assert.equal(server.calls.filter((call) => call === 'POST /v1/socketTickets').length, 1);
    await page.unmount();
    server.advance(999);
    await settle(flavor);
    assert.equal(server.open().length, 1);
    // The stores leave the connection when their own second is over.
    server.advance(1);
    server.advance(1000);
    await settle(flavor);
    assert.equal(server.open().length, 0);
    assert.equal(server.sockets.length, 1);
  });

  test(`${name}: a hook without a provider says what it needs`, (t) => {
    heardErrors(t);
    const render = (hook, ...args) => {
      function Lost() {
        hooks[hook](...args);
        return null;
      }
      return h(Lost);
    };
    for (const hook of [...HOOKS_WITH_CLIENT, ...HOOKS_WITH_SPACE, 'useRun'])
      assert.throws(() => renderToString(render(hook, SPACE_ID, 'text')), {
        message: `${hook} needs a <SmartspaceProvider> above its component.`,
      });
    const client = clientOf(flavor, fakeServer());
    for (const hook of HOOKS_WITH_SPACE)
      assert.throws(
        () => renderToString(h(hooks.SmartspaceProvider, { client }, render(hook, undefined, ''))),
        { message: `${hook} needs the id of a space, or a <SpaceProvider> above it.` },
      );
  });
}
