// The hours of a day, compared with the days before. Pure.

import type { UsageDay } from './costs.ts';
import { DAY_MS, dayOf, type Range } from './report.ts';

/** The cost of one hour of a day, in UTC. */
export interface HourCost {
  hour: number;
  cost: number;
  /** What this hour cost on average on the days before. */
  usual: number;
}

const DAYS_BEFORE = 7;
const HOURS = 24;

/** The day, and the seven days before it. Null if it is no day. */
export function weekBefore(day: string): Range | null {
  const at = Date.parse(day);
  return Number.isNaN(at) ? null : { from: dayOf(at - DAYS_BEFORE * DAY_MS), to: day };
}

/** As many days as the range has, just before it. Null if the range is not valid. */
export function rangeBefore({ from, to }: Range): Range | null {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  if (!(first <= last)) return null;
  return { from: dayOf(first - (last - first) - DAY_MS), to: dayOf(first - DAY_MS) };
}

/** The number of days of a range. */
export const lengthOf = ({ from, to }: Range): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;

/** The hours of a day; null if the server does not sum them. */
export function hoursOf(days: readonly UsageDay[], day: string): HourCost[] | null {
  const hours = days.find((each) => each.day === day)?.hours;
  if (!hours) return null;
  const before = days.filter((each) => each.day !== day);
  return Array.from({ length: HOURS }, (_, hour) => ({
    hour,
    cost: hours[hour] ?? 0,
    usual: before.reduce((sum, each) => sum + (each.hours?.[hour] ?? 0), 0) / DAYS_BEFORE,
  }));
}

/** An hour of a day as the filters of the runs take it. */
export function hourFilter(day: string, hour: number): { since: string; until: string } {
  const at = Date.parse(day) + hour * 60 * 60 * 1000;
  return {
    since: new Date(at).toISOString(),
    until: new Date(at + 60 * 60 * 1000).toISOString(),
  };
}

/** A range of days as the filters of the runs take it. */
export const rangeFilter = ({ from, to }: Range): { since: string; until: string } => ({
  since: `${from}T00:00:00.000Z`,
  until: new Date(Date.parse(to) + DAY_MS).toISOString(),
});
