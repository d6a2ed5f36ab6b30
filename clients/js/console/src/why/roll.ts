// The roll call of a message: who is named in its line, and what the others are counted as. Pure.

import type { Outcome } from '@smartspace/client';
import { moreWords, stateWords } from './outcomes.ts';

const MOST_NAMED = 3;

// What a reader looks for first.
const ORDER: readonly Outcome['state'][] = [
  'failed',
  'refused',
  'waiting',
  'spoke',
  'reacted',
  'writing',
  'thinking',
  'stopped',
  'asked',
  'unknown',
];

/** The roll call in a line. */
export interface Roll {
  /** The agents that the line names. */
  named: readonly Outcome[];
  /** How many others there are, by what became of them. */
  counts: ReadonlyMap<string, number>;
  /** All that have a reason, or are only counted. */
  listed: readonly Outcome[];
}

/** The line for these outcomes. */
export function rollOf(outcomes: readonly Outcome[]): Roll {
  const active = ORDER.flatMap((wanted) => outcomes.filter(({ state }) => state === wanted));
  const silent = outcomes.filter(({ state }) => state === 'silent');
  const isWoken = active.length + silent.length > 0;
  // If the message woke an agent, it is no surprise that the policy left out others.
  const others = outcomes.filter(
    ({ state, reason }) => state === 'notWoken' && !(isWoken && reason === 'policy'),
  );
  const rest = [...active.slice(MOST_NAMED), ...silent, ...others];
  // To name one takes no more room than to count it.
  const isNamed = rest.length === 1 && silent.length === 1;
  const named = [...active.slice(0, MOST_NAMED), ...(isNamed ? silent : [])];
  const counted = isNamed ? [] : rest;
  const counts = new Map<string, number>();
  for (const outcome of counted) {
    const words = stateWords(outcome);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return { named, counts, listed: [...named.filter((each) => moreWords(each) !== ''), ...counted] };
}
