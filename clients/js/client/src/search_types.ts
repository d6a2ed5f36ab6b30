// The shapes of a search: what is searched for, and what is found.

import type { Sender } from './schemas.ts';

/** What is searched for: words, filters, or both. */
export interface SearchQuery {
  /**
   * 1 to 256 characters: words, `"a phrase"`, `begin*`, `-without`, and filters such as
   * `in:"Ops room" from:me has:file after:2026-02-18`. It may be empty beside another filter.
   */
  q: string;
  /** At most 20. By default all spaces of the caller; the operator names them. */
  spaceIds?: readonly string[] | undefined;
  /** The ids or names of senders, at most 10; `me` is the caller. */
  from?: string | readonly string[] | undefined;
  /** Only messages before this time: RFC 3339, or a day such as `2026-02-18` in UTC. */
  before?: string | undefined;
  /** Only messages from this time on. */
  after?: string | undefined;
  /** What the messages have: all of these. */
  has?: SearchFeature | readonly SearchFeature[] | undefined;
  /** Default `relevance`. */
  sort?: 'relevance' | 'newest' | undefined;
  /** The most items that one call brings, from 1 to 20. Default 10. */
  limit?: number | undefined;
  /** Ends the search. The next item then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** What a message that is searched for may have. */
export type SearchFeature = 'file' | 'image' | 'link' | 'code' | 'card' | 'reply';

/** A message that a search has found, with its neighbours. */
export interface SearchItem {
  spaceId: string;
  spaceName: string;
  messageId: string;
  seq: number;
  /** When the message was sent, as RFC 3339. */
  at: string;
  sender: Sender;
  /** Up to 300 characters around the best place. */
  excerpt: string;
  /** What was found in `excerpt`, in UTF-16 code units. */
  matches: readonly { start: number; end: number }[];
  /** The names of its files. */
  files: readonly string[];
  score: number;
  /** The seqs of the hits that are at most two messages away, and not items of their own. */
  alsoSeqs: readonly number[];
  /** Up to two messages before it, oldest first. */
  before: readonly SearchNeighbour[];
  /** Up to two messages after it. */
  after: readonly SearchNeighbour[];
}

/** A message beside one that a search has found. */
export interface SearchNeighbour {
  messageId: string;
  seq: number;
  at: string;
  sender: Sender;
  /** Up to 200 characters. */
  text: string;
}

/** How far a search has come. */
export interface SearchProgress {
  /** What the last answer has read: its oldest message is at `from`. Null before the first one. */
  searched: { spaces: number; messages: number; from: string | null } | null;
  /** There are older messages or other spaces that the last answer has not read. */
  incomplete: boolean;
  /** Whether another call may bring more items. */
  hasMore: boolean;
  /** The words that are not searched for, since the query has too many. */
  ignored?: readonly string[];
}

/**
 * A search: an iterator over its items, the best one first. It goes on with older messages that an
 * answer has not read; each answer ranks what it has read. It reads no further than its items are
 * asked for. Its state changes with each answer. After a failure `next()` tries again.
 */
export interface Search extends Readonly<SearchProgress> {
  next(): Promise<IteratorResult<SearchItem, void>>;
  [Symbol.asyncIterator](): Search;
}
