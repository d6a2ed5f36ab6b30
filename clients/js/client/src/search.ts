// Searches the messages of the caller's spaces.

import type { Call, Page } from './http.ts';
import type { Search, SearchItem, SearchProgress, SearchQuery } from './types.ts';

type Answer = Page<SearchItem> & Omit<SearchProgress, 'hasMore'>;

/** Begins a search. Its first call is made when an item is asked for. */
export function createSearch(call: Call, { signal, spaceIds, ...filters }: SearchQuery): Search {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filters, spaceId: spaceIds }))
    for (const each of [value ?? []].flat()) query.append(name, `${each}`);
  let read: SearchItem[] = [];
  let last: Promise<unknown> = Promise.resolve();

  async function step(): Promise<IteratorResult<SearchItem, void>> {
    // An answer may have no items although older messages have some.
    while (read.length === 0 && search.hasMore) {
      const options = { retry: true, signal };
      const answer = await call<Answer>('GET', `/v1/search?${query}`, options);
      const { items, nextCursor, ...progress } = answer;
      read = items;
      Object.assign(search, progress, { hasMore: !!nextCursor });
      query.set('cursor', nextCursor ?? '');
    }
    const value = read.shift();
    return { value, done: !value } as IteratorResult<SearchItem, void>;
  }

  const search: Search = {
    searched: null,
    incomplete: true,
    hasMore: true,
    // One after the other, so that no answer is asked for twice.
    next: () => (last = last.then(step, step)) as ReturnType<typeof step>,
    [Symbol.asyncIterator]: () => search,
  };
  return search;
}
