// The goals of an agent in order and in words. Pure.

import type { Schemas } from '@smartspace/client';

type Goal = Schemas['Goal'];

/** The goals with this status: the most urgent first, then the one that is due first. */
export const goalsIn = (goals: readonly Goal[], status: Goal['status']): Goal[] =>
  goals
    .filter((goal) => goal.status === status)
    .sort((one, other) => one.priority - other.priority || dueOf(one) - dueOf(other));

const dueOf = ({ dueAt }: Goal) => (dueAt === null ? Number.MAX_VALUE : Date.parse(dueAt));

/** A priority from 1 to 5 in words. */
export function priorityWords(priority: number): string {
  const words: Record<number, string> = { 1: ' (most urgent)', 5: ' (least urgent)' };
  return `priority ${priority}${words[priority] ?? ''}`;
}
