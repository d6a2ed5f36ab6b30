// The schedule of a plan in words. Pure.

import type { Schemas } from '@smartspace/client';
import { cronWords } from './cron_words.ts';

type Plan = Schemas['Plan'];

/** When the plan fires, in words. */
export function scheduleWords(plan: Plan): string {
  if (plan.type === 'cron') return capitalized(cronWords(plan.cron) ?? 'Repeatedly, by cron');
  return plan.runAfter === null ? 'Once' : `Once, ${plan.runAfter} after it was set`;
}

/** A time in a zone, or in the reader's without one. */
export const timeText = (time: string, timeZone?: string): string =>
  new Date(time).toLocaleString([], {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    ...(timeZone ? { timeZone } : {}),
  });

/** The reader's time zone. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
