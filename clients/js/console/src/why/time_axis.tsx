// The axis of a waterfall: its start, its middle and its end.

import type { JSX } from 'preact';
import { durationText } from './words.ts';

/** An axis of this length, in milliseconds. The bars have their times in words as well. */
export const TimeAxis = ({ length }: { length: number }): JSX.Element => (
  <div class="bar time-axis" aria-hidden="true">
    <span />
    <span class="ticks">
      {[0, 0.5, 1].map((part) => (
        <span key={part}>{part === 0 ? '0' : durationText(length * part)}</span>
      ))}
    </span>
    <span />
  </div>
);
