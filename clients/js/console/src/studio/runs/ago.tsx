// A relative time that is updated with the clock.

import type { JSX } from 'preact';
import { useNow } from '../../ui/now.ts';
import { relativeText } from './words.ts';

/** How far a time is from now. Its title is the exact time, in the reader's zone. */
export function Ago({ at }: { at: string }): JSX.Element {
  const now = useNow(true);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {relativeText(Date.parse(at), now)}
    </time>
  );
}
