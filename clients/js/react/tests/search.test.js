// What a search finds while a person types it: old items stay until new ones come.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fakeServer } from './fake_server.js';
import { clientOf, flavors, pageOf, settle } from './page.js';

const SEARCHED = { spaces: 1, messages: 3, from: '2026-01-01T00:00:00Z' };
const answerOf = (ids, nextCursor = null, incomplete = false) => ({
  items: ids.map((messageId) => ({ messageId })),
  searched: SEARCHED,
  incomplete,
  nextCursor,
});

for (const flavor of flavors) {
  const { name, React, hooks } = flavor;
  const { createElement: h } = React;

  function open(t) {
    const server = fakeServer();
    const page = pageOf(flavor);
    const client = clientOf(flavor, server);
    const seen = {};
    function Found({ query }) {
      Object.assign(seen, hooks.useSearch(query));
      return null;
    }
    const ask = (query) =>
      page.render(h(hooks.SmartspaceProvider, { client }, h(Found, { query })));
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const pass = (ms) => settle(flavor, () => t.mock.timers.tick(ms));
    const state = () => {
      const { items, isLoading, hasMore, error } = seen;
      return [items.map((each) => each.messageId).join(), isLoading, hasMore, error?.message];
    };
    return { ...server, page, seen, ask, pass, state };
  }

  test(`${name}: only the last query is asked, and old items stay meanwhile`, async (t) => {
    const { searches, page, seen, ask, pass, state } = open(t);
    await ask(null);
    await pass(1000);
    assert.deepEqual([searches, state()], [[], ['', false, false, undefined]]);

    await ask({ q: 'pl' });
    await pass(249);
    await ask({ q: 'plan', limit: 2 });
    await pass(249);
    assert.deepEqual([searches, seen.isLoading], [[], true]);
    await pass(1);
    assert.deepEqual(
      searches.map(({ q, limit }) => [q, limit]),
      [['plan', '2']],
    );
    await settle(flavor, () => searches[0].answer(answerOf(['a', 'b'], 'c1')));
    assert.deepEqual([state(), seen.searched], [['a,b', false, true, undefined], SEARCHED]);

    await ask({ q: 'plans', limit: 2 });
    assert.deepEqual([state(), seen.searched], [['a,b', true, true, undefined], null]);
    await pass(250);
    await ask({ q: 'plan b', limit: 2 });
    assert.equal(searches[1].isAborted, true);
    await pass(250);
    await settle(flavor, () => searches[2].answer(answerOf(['d'])));
    assert.deepEqual(state(), ['d', false, false, undefined]);

    await ask(null);
    assert.deepEqual(state(), ['', false, false, undefined]);
    await page.unmount();
  });

  test(`${name}: it goes on with older messages, and further on demand`, async (t) => {
    const { searches, page, seen, ask, pass, state } = open(t);
    await ask({ q: 'plan', limit: 2 });
    await pass(250);
    await settle(flavor, () => searches[0].answer(answerOf(['a'], 'c1', true)));
    assert.deepEqual([state(), seen.incomplete], [['a', true, true, undefined], true]);
    await settle(flavor, () => searches[1].answer(answerOf(['b', 'c'], 'c2')));
    assert.deepEqual(
      [state(), searches.map(({ cursor }) => cursor)],
      [
        ['a,b', false, true, undefined],
        [undefined, 'c1'],
      ],
    );
    await settle(flavor, () => seen.more());
    assert.deepEqual(state(), ['a,b,c', true, true, undefined]);
    await settle(flavor, () => searches[2].refuse('That is no cursor.'));
    assert.deepEqual(state(), ['a,b,c', false, true, 'That is no cursor.']);
    await settle(flavor, () => seen.more());
    await settle(flavor, () => searches[3].answer(answerOf([])));
    assert.deepEqual(state(), ['a,b,c', false, false, undefined]);
    await page.unmount();
    assert.equal(searches.length, 4);
  });
}
