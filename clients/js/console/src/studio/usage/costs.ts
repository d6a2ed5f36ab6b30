// The cost of today beside the days before, and by hour. Pure.

import { DAY_MS, dayOf, type UsageItem } from './report.ts';

/** A day of a report, with the dollars of each of its hours in UTC if the server sums them. */
export type UsageDay = Omit<UsageItem, 'hours'> & { hours?: readonly number[] | null };

/** One bar: an hour or a day. */
export interface CostBar {
  key: string;
  cost: number;
}

/** The cost of today, and how it compares. */
export interface Costs {
  today: number;
  /** The difference to the days before, in percent; null without anything to compare with. */
  change: number | null;
  bars: readonly CostBar[];
  /** Whether a bar is an hour. Otherwise it is a day. */
  isByHour: boolean;
}

const HOUR_MS = 3_600_000;
const DAYS_BEFORE = 7;
const BARS = 12;

/** The path of the usage of today and of the seven days before. */
export const costsPath = (now: number): string =>
  `/v1/usage?from=${dayOf(now - DAYS_BEFORE * DAY_MS)}&to=${dayOf(now)}&by=day`;

/** The costs of these days. */
export function costsOf(days: readonly UsageDay[], now: number): Costs {
  const byDay = new Map(days.map((each) => [each.day ?? '', each]));
  const today = byDay.get(dayOf(now))?.cost ?? 0;
  const isByHour = days.some(({ hours }) => Boolean(hours));
  return {
    today,
    change: changeOf(today, soFarBefore(byDay, now)),
    bars: isByHour ? hourBars(byDay, now) : dayBars(byDay, now),
    isByHour,
  };
}

/** A difference in percent: `+ 240 %`, `− 12 %`. */
export const changeText = (change: number): string =>
  `${change < 0 ? '−' : '+'} ${Math.abs(change).toLocaleString()} %`;

/** The difference in percent, rounded; null if there was nothing before. */
export const changeOf = (now: number, before: number): number | null =>
  before > 0 ? Math.round((100 * (now - before)) / before) : null;

// What one of the days before had cost on average by this hour. Without hours: in the whole day.
function soFarBefore(byDay: ReadonlyMap<string, UsageDay>, now: number): number {
  const hour = new Date(now).getUTCHours();
  const minutes = new Date(now).getUTCMinutes();
  const costs = Array.from({ length: DAYS_BEFORE }, (_, index) => {
    const day = byDay.get(dayOf(now - (index + 1) * DAY_MS));
    if (!day?.hours) return day?.cost ?? 0;
    const full = day.hours.slice(0, hour).reduce((sum, cost) => sum + cost, 0);
    return full + ((day.hours[hour] ?? 0) * minutes) / 60;
  });
  return costs.reduce((sum, cost) => sum + cost, 0) / DAYS_BEFORE;
}

function hourBars(byDay: ReadonlyMap<string, UsageDay>, now: number): CostBar[] {
  return Array.from({ length: BARS }, (_, index) => {
    const at = new Date(now - (BARS - 1 - index) * HOUR_MS);
    const hour = at.getUTCHours();
    const cost = byDay.get(dayOf(at.getTime()))?.hours?.[hour] ?? 0;
    return { key: `${dayOf(at.getTime())} ${hour}:00`, cost };
  });
}

const dayBars = (byDay: ReadonlyMap<string, UsageDay>, now: number): CostBar[] =>
  Array.from({ length: DAYS_BEFORE + 1 }, (_, index) => {
    const key = dayOf(now - (DAYS_BEFORE - index) * DAY_MS);
    return { key, cost: byDay.get(key)?.cost ?? 0 };
  });
