// A search: it reads no further than it must, follows cursors, and goes on after a failure.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleOf } from './model/library.js';

const { createSearch } = await moduleOf('search.js');

const item = (seq) => ({ messageId: `m${seq}`, seq });
const searched = (messages) => ({ spaces: 1, messages, from: '2026-01-01T00:00:00Z' });
const answer = (seqs, nextCursor = null, more = {}) => ({
  items: seqs.map(item),
  searched: searched(seqs.length),
  incomplete: false,
  nextCursor,
  ...more,
});

/** A search whose calls get these answers, or fail with them. */
function searchWith(answers, query = { q: 'plan' }) {
  const calls = [];
  const call = async (method, path, options) => {
    calls.push(path);
    assert.deepEqual([method, options.retry], ['GET', true]);
    options.signal?.throwIfAborted();
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return next;
  };
  return { calls, search: createSearch(call, query) };
}

async function seqsOf(search) {
  const seqs = [];
  for await (const { seq } of search) seqs.push(seq);
  return seqs;
}

test('filters become parameters, and lists are repeated', async () => {
  const query = {
    q: 'in:"Ops room" plan & more',
    spaceIds: ['s1', 's2'],
    from: 'me',
    has: ['file', 'link'],
    before: undefined,
    after: '2026-02-18',
    sort: 'newest',
    limit: 20,
  };
  const { calls, search } = searchWith([answer([])], query);
  assert.deepEqual(await seqsOf(search), []);
  const [path, parameters] = calls[0].split('?');
  assert.equal(path, '/v1/search');
  assert.deepEqual(
    [...new URLSearchParams(parameters)].sort(),
    [
      ['q', 'in:"Ops room" plan & more'],
      ['spaceId', 's1'],
      ['spaceId', 's2'],
      ['from', 'me'],
      ['has', 'file'],
      ['has', 'link'],
      ['after', '2026-02-18'],
      ['sort', 'newest'],
      ['limit', '20'],
    ].sort(),
  );
});

test('it follows cursors and older messages, and asks only for what is wanted', async () => {
  const older = { incomplete: true, ignored: ['a'] };
  const answers = [answer([9, 4], 'c 1'), answer([], 'c2', older), answer([1])];
  const { calls, search } = searchWith(answers);
  const state = () => [search.searched, search.incomplete, search.hasMore];
  assert.deepEqual([calls, state()], [[], [null, true, true]]);
  assert.deepEqual(await search.next(), { value: item(9), done: false });
  assert.deepEqual(await search.next(), { value: item(4), done: false });
  assert.deepEqual([calls, state()], [['/v1/search?q=plan'], [searched(2), false, true]]);
  assert.deepEqual(await seqsOf(search), [1]);
  assert.deepEqual(calls.slice(1), ['/v1/search?q=plan&cursor=c+1', '/v1/search?q=plan&cursor=c2']);
  assert.deepEqual([state(), search.ignored], [[searched(1), false, false], ['a']]);
  assert.deepEqual(await search.next(), { value: undefined, done: true });
  assert.equal(calls.length, 3);
});

test('after a failure it asks the same again, and calls at once wait for each other', async () => {
  const { calls, search } = searchWith([answer([3], 'c1'), new Error('down'), answer([2, 1])]);
  await search.next();
  await assert.rejects(search.next(), /down/);
  assert.equal(search.hasMore, true);
  const found = await Promise.all([search.next(), search.next(), search.next()]);
  assert.deepEqual(
    found.map(({ value }) => value?.seq),
    [2, 1, undefined],
  );
  assert.deepEqual(calls.slice(1), Array(2).fill('/v1/search?q=plan&cursor=c1'));
});

test('a signal ends it with its reason', async () => {
  const { signal, abort } = (() => {
    const controller = new AbortController();
    return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) };
  })();
  const { search } = searchWith([answer([2], 'c1')], { q: 'plan', signal });
  assert.equal((await search.next()).value.seq, 2);
  abort();
  await assert.rejects(search.next(), /enough/);
});
