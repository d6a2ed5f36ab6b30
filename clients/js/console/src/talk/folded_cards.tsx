// Many calls of one tool as one row, which opens to the calls.

import type { Message, ToolPart } from '@smartspace/client';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { visible } from '../ui/visible.ts';
import { durationText } from '../why/words.ts';

export interface FoldedCardsProps {
  /** Messages with one call each. */
  folded: readonly Message[];
  /** What came of the last call, or ''. */
  result: string;
  /** The cards. */
  children: ComponentChildren;
}

export function FoldedCards({ folded, result, children }: FoldedCardsProps): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  const calls = folded.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'));
  return (
    <details class="folded tool" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary dir="auto">
        <strong>{visible(calls[0]?.name ?? '')}</strong> {foldedText(calls, result, spanOf(folded))}
      </summary>
      {isOpen ? children : null}
    </details>
  );
}

/** `× 20 · all completed · last: running · 41 s` */
export function foldedText(
  calls: readonly Pick<ToolPart, 'status'>[],
  result: string,
  lengthMs: number,
): string {
  return [
    `× ${calls.length}`,
    statesText(calls.map(({ status }) => status)),
    ...(result === '' ? [] : [`last: ${visible(result)}`]),
    ...(lengthMs >= 1000 ? [durationText(lengthMs)] : []),
  ].join(' · ');
}

function statesText(states: readonly string[]) {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  const [only] = counts.keys();
  return counts.size === 1
    ? `all ${only}`
    : [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}

// From the first call to the last one.
function spanOf(folded: readonly Message[]) {
  const times = folded.map(({ createdAt }) => Date.parse(createdAt));
  return Math.max(...times) - Math.min(...times);
}
