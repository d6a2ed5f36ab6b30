// Which components a frame renders again, and what stays the same object.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fakeServer, SPACE_ID } from './fake_server.js';
import { clientOf, flavors, pageOf, settle } from './page.js';

const STREAMS = ['str_1', 'str_2', 'str_3', 'str_4', 'str_5'];
const delta = (streamId, offset, text) => ({ type: 'stream.delta', streamId, offset, text });

for (const flavor of flavors) {
  const { name, isReact, React, hooks } = flavor;
  const { createElement: h, memo } = React;

  const inSpace = (client, ...children) =>
    h(hooks.SmartspaceProvider, { client }, h(hooks.SpaceProvider, { id: SPACE_ID }, ...children));

  // The chat of an application. Each component counts its renders.
  function chat() {
    const renders = {};
    const count = (key) => (renders[key] = (renders[key] ?? 0) + 1);
    const seen = {};
    const Live = memo(function Live({ streamId }) {
      count(streamId);
      return h('b', null, hooks.useStream(streamId).text);
    });
    const Line = memo(function Line({ item }) {
      count(item.key);
      return item.type === 'live' ? h(Live, item.stream) : h('p', null, item.key);
    });
    function List() {
      count('list');
      Object.assign(seen, hooks.useTimeline());
      return seen.items.map((item) => h(Line, { key: item.key, item }));
    }
    function Others() {
      count('others');
      hooks.useSpace();
      hooks.useSpaces();
      hooks.useRuns();
      hooks.useMembers();
      hooks.usePresence();
      hooks.useForms();
      hooks.useUnread();
      hooks.useConnection();
      seen.functions = [hooks.useSend(), hooks.useAnswer(), seen.loadOlder];
      return null;
    }
    const reset = () => Object.keys(renders).forEach((key) => delete renders[key]);
    return { renders, reset, seen, List, Others };
  }

  async function openChat(count) {
    const server = fakeServer({ count });
    const page = pageOf(flavor);
    const parts = chat();
    await page.render(inSpace(clientOf(flavor, server), h(parts.List), h(parts.Others)));
    const messages = () => parts.seen.items.filter(({ type }) => type === 'message');
    return { server, page, messages, ...parts };
  }

  test(`${name}: one token renders one component, once`, async () => {
    const { server, page, seen, messages, renders, reset } = await openChat(200);
    while (seen.hasOlder) await settle(flavor, () => seen.loadOlder());
    assert.equal(messages().length, 200);
    for (const streamId of STREAMS)
      await settle(flavor, () => server.deliver(delta(streamId, 0, 'One')));
    assert.equal(seen.items.filter(({ type }) => type === 'live').length, 5);
    assert.equal(page.container.querySelectorAll('b').length, 5);
    for (const [index, streamId] of STREAMS.entries()) {
      reset();
      await settle(flavor, () => server.deliver(delta(streamId, 3, ' two')));
      assert.deepEqual(renders, { [streamId]: 1 });
      assert.equal(page.container.querySelectorAll('b')[index].textContent, 'One two');
    }
    await page.unmount();
  });

  test(`${name}: items and functions stay the same over a frame of something else`, async () => {
    const { server, page, seen, messages, renders, reset } = await openChat(10);
    const before = { ...seen, messages: messages() };
    reset();
    await settle(flavor, () =>
      server.deliver({
        type: 'presence',
        present: [{ entityId: 'ent_ann', since: '2026', until: '2099-01-01T00:00:00Z' }],
        typing: [],
      }),
    );
    assert.deepEqual(renders, { others: 1 });
    assert.equal(seen.items, before.items);
    reset();
    await settle(flavor, () => server.post());
    assert.equal(messages().length, 11);
    before.messages.forEach((item, index) => assert.equal(messages()[index], item));
    assert.equal(renders.list, 1);
    assert.equal(renders.msg_11, 1);
    assert.equal(renders.msg_10, undefined);
    assert.equal(renders.others > 0, true);
    seen.functions.forEach((each, index) => assert.equal(each, before.functions[index]));
    await page.unmount();
  });

  test(`${name}: a message says that the agents stop there`, async () => {
    const { server, page, messages } = await openChat(3);
    const chainEnded = { by: 'auto_replies', limit: 3 };
    const message = { ...messages().at(-1).message, id: 'msg_4', seq: 4, chainEnded };
    await settle(flavor, () =>
      server.raw({ type: 'message.created', spaceId: SPACE_ID, at: message.createdAt, message }),
    );
    assert.deepEqual(
      messages().map((item) => item.message.chainEnded),
      [undefined, undefined, undefined, chainEnded],
    );
    await page.unmount();
  });

  // A list inside of a boundary whose other child can fall asleep, and perhaps one outside.
  async function openBoundary({ hasOutside }) {
    const server = fakeServer({ count: 3 });
    const page = pageOf(flavor);
    let wait = null;
    let again;
    let resume;
    function Sleeper() {
      [, again] = React.useState(0);
      if (wait) throw wait;
      return h('i', null, 'awake');
    }
    const boundary = h(React.Suspense, { fallback: 'waiting' }, h(chat().List), h(Sleeper));
    const outside = h('main', null, hasOutside && h(chat().List));
    await page.render(inSpace(clientOf(flavor, server), h('aside', null, boundary), outside));
    return {
      server,
      page,
      inside: () => page.container.querySelector('aside').textContent,
      outside: () => page.container.querySelector('main').textContent,
      async sleep() {
        wait = new Promise((resolve) => (resume = resolve)).then(() => (wait = null));
        await settle(flavor, () => again(1));
        // Longer than an unused connection stays.
        for (let count = 0; count < 3; count += 1) server.advance(1000);
      },
      wake: () => settle(flavor, () => resume()),
    };
  }

  test(`${name}: a component that suspends stops no other one`, async () => {
    const { server, page, inside, outside, sleep, wake } = await openBoundary({ hasOutside: true });
    await sleep();
    assert.match(inside(), /waiting/);
    await settle(flavor, () => server.post());
    assert.match(outside(), /msg_4$/);
    await wake();
    assert.match(inside(), /msg_4awake$/);
    await settle(flavor, () => server.post());
    assert.match(inside(), /msg_5awake$/);
    assert.match(outside(), /msg_5$/);
    assert.equal(server.sockets.length, 1);
    await page.unmount();
  });

  test(`${name}: what a boundary hides is up to date when it shows again`, async () => {
    const { server, page, inside, sleep, wake } = await openBoundary({ hasOutside: false });
    await sleep();
    await settle(flavor, () => server.post());
    // React keeps the effects of what it hides. Preact ends them, so its space closes meanwhile.
    assert.equal(server.open().length, isReact ? 1 : 0);
    await wake();
    server.advance(1000); // A message that is missing is fetched a moment later.
    await settle(flavor);
    assert.match(inside(), /msg_4awake$/);
    await settle(flavor, () => server.post());
    assert.match(inside(), /msg_5awake$/);
    assert.equal(server.sockets.length, isReact ? 1 : 2);
    await page.unmount();
  });
}
