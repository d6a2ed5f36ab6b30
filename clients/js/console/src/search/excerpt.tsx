// A part of a message that was found, with its words marked.

import type { SearchItem } from '@smartspace/client';
import type { JSX } from 'preact';
import { visible } from '../ui/visible.ts';

export type ExcerptProps = Pick<SearchItem, 'excerpt' | 'matches'>;

export function Excerpt({ excerpt, matches }: ExcerptProps): JSX.Element {
  let end = 0;
  return (
    <>
      {matches.map((match) => {
        const before = visible(excerpt.slice(end, match.start));
        ({ end } = match);
        return (
          <>
            {before}
            <mark>{visible(excerpt.slice(match.start, end))}</mark>
          </>
        );
      })}
      {visible(excerpt.slice(end))}
    </>
  );
}
