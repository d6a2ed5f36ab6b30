// Completing the name of a member that a person mentions. Pure.

import type { Member } from '@smartspace/client';

const MOST = 8;

/** The mention that is being written. */
export interface Mention {
  /** The position of its `@`. */
  from: number;
  /** The text between the `@` and the caret. */
  query: string;
}

/**
 * The mention before the caret, or null. As on the server, the `@` does not follow a word. A name
 * may have spaces, so a query may have one.
 */
export function mentionAt(text: string, caret: number): Mention | null {
  const query = /(?:^|[^\p{L}\p{N}_.])@([^\s@]*(?: [^\s@]*)?)$/u.exec(text.slice(0, caret))?.[1];
  if (query === undefined) return null;
  return { from: caret - query.length - 1, query };
}

/** The members that a query may mean: agents first, and names that begin with it first. */
export function candidatesOf<Each extends Pick<Member, 'name' | 'type'>>(
  members: readonly Each[],
  query: string,
): Each[] {
  const wanted = query.toLocaleLowerCase();
  const rankOf = ({ name, type }: Each) => {
    const at = ` ${name.toLocaleLowerCase()}`.indexOf(` ${wanted}`);
    return at < 0 ? Infinity : (type === 'agent' ? 0 : 1) + (at === 0 ? 0 : 2);
  };
  return members
    .map((each) => ({ each, rank: rankOf(each) }))
    .filter(({ rank }) => rank < Infinity)
    .sort((one, other) => one.rank - other.rank || one.each.name.localeCompare(other.each.name))
    .map(({ each }) => each)
    .slice(0, MOST);
}

/** The text with the mention completed, and the position of the caret after it. */
export function completed(text: string, { from, query }: Mention, name: string) {
  const before = `${text.slice(0, from)}@${name} `;
  const after = text.slice(from + 1 + query.length).replace(/^ /, '');
  return { text: before + after, caret: before.length };
}
