// Answers that are kept, so that the server sends one again only if it has changed.

import { MOST_KEPT, MOST_OFFERED } from './limits.ts';

/** An answer, and the tag with which the server names this state of it. */
export interface KeptAnswer {
  tag: string;
  answer: unknown;
}

/** Answers by their tags. */
export interface Kept {
  /**
   * The newest answers of this path, with any query: two queries may ask for the same page, which
   * then has one tag.
   */
  of(path: string): KeptAnswer[];
  put(path: string, tag: string, answer: unknown): void;
}

export function createKept(): Kept {
  const answers = new Map<string, KeptAnswer & { path: string }>();
  const named = (path: string) => path.split('?')[0] ?? path;
  return {
    of: (path) =>
      [...answers.values()].filter((each) => each.path === named(path)).slice(-MOST_OFFERED),
    put(path, tag, answer) {
      answers.delete(tag);
      answers.set(tag, { path: named(path), tag, answer });
      const [oldest] = answers.keys();
      if (oldest !== undefined && answers.size > MOST_KEPT) answers.delete(oldest);
    },
  };
}
