// The numbers of the usage page: the days of a range, and sums for each agent or model. Pure.

import type { Schemas } from '@smartspace/client';
import type { Priced } from '../../why/words.ts';

export type UsageItem = Schemas['UsageItem'] & Priced;

/** Days in UTC, such as `2026-02-18`. */
export interface Range {
  from: string;
  to: string;
}

/** The grouping of the sums. */
export type Group = 'agent' | 'model' | 'agent,model';

/** Sums of one agent, of one model, or of both. */
export interface Series {
  /** Which one it is; null for all others together. */
  key: string | null;
  total: UsageItem;
  /** By day. */
  days: ReadonlyMap<string, UsageItem>;
}

export const DAY_MS = 24 * 60 * 60 * 1000;
const MOST_DAYS = 92;

/** A day in UTC: `2026-02-18`. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The last `count` days, with today. */
export const lastDays = (count: number, now: number): Range => ({
  from: dayOf(now - (count - 1) * DAY_MS),
  to: dayOf(now),
});

/** The range that the address names, by default the last 30 days. */
export function rangeOf(filters: URLSearchParams, now: number): Range {
  const { from, to } = lastDays(30, now);
  return { from: filters.get('from') || from, to: filters.get('to') || to };
}

/** How the address groups the sums, by default by agent. */
export function groupOf(filters: URLSearchParams): Group {
  const by = filters.get('by');
  return by === 'model' || by === 'agent,model' ? by : 'agent';
}

/** Each day of a range, in order; none if the range is not valid. */
export function daysOf({ from, to }: Range): string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const count = Math.round((last - first) / DAY_MS) + 1;
  if (!(count >= 1 && count <= MOST_DAYS)) return [];
  return Array.from({ length: count }, (_, index) => dayOf(first + index * DAY_MS));
}

/** All tokens, read and written. */
export const tokensOf = ({ inputTokens, outputTokens }: UsageItem): number =>
  inputTokens + outputTokens;

/** The share of the read tokens that came from the cache, in percent; null if there are none. */
export const reuseOf = ({ inputTokens, cachedTokens }: UsageItem): number | null =>
  inputTokens === 0 ? null : Math.round((100 * cachedTokens) / inputTokens);

/** The key of a row: the id of an agent, a model, or both with a blank between them. */
export function keyOf({ agentId, provider, model }: UsageItem, by: Group): string {
  const agent = agentId ?? '';
  const name = `${provider ?? ''}/${model ?? ''}`;
  if (by === 'agent') return agent;
  return by === 'model' ? name : `${agent} ${name}`;
}

/** The sums by their keys, the most expensive first. What used nothing is left out. */
export function seriesOf(items: readonly UsageItem[], by: Group): Series[] {
  const groups = new Map<string, UsageItem[]>();
  for (const item of items) {
    const key = keyOf(item, by);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  const weight = ({ total }: Series) => [total.cost ?? 0, tokensOf(total)] as const;
  return [...groups]
    .map(([key, rows]) => ({ key, total: sumOf(rows), days: byDay(rows) }))
    .filter(({ total }) => total.runs > 0 || tokensOf(total) > 0 || (total.cost ?? 0) > 0)
    .sort((one, other) => {
      const [[cost, tokens], [otherCost, otherTokens]] = [weight(one), weight(other)];
      return otherCost - cost || otherTokens - tokens;
    });
}

/** At most `count` series: the smallest ones become one. */
export function shortened(series: readonly Series[], count: number): Series[] {
  if (series.length <= count) return [...series];
  const rest = series.slice(count - 1);
  const others: Series = {
    key: null,
    total: sumOf(rest.map(({ total }) => total)),
    days: byDay(rest.flatMap(({ days }) => [...days.values()])),
  };
  return [...series.slice(0, count - 1), others];
}

function byDay(rows: readonly UsageItem[]): Map<string, UsageItem> {
  const days = new Map<string, UsageItem>();
  for (const row of rows) {
    const day = row.day ?? '';
    const before = days.get(day);
    days.set(day, before ? sumOf([before, row]) : row);
  }
  return days;
}

function sumOf(rows: readonly UsageItem[]): UsageItem {
  const [first, ...others] = rows as [UsageItem, ...UsageItem[]];
  return others.reduce(
    (sum, row) => ({
      ...sum,
      runs: sum.runs + row.runs,
      inputTokens: sum.inputTokens + row.inputTokens,
      cachedTokens: sum.cachedTokens + row.cachedTokens,
      cacheWriteTokens: sum.cacheWriteTokens + row.cacheWriteTokens,
      outputTokens: sum.outputTokens + row.outputTokens,
      cost: sum.cost === null && row.cost === null ? null : (sum.cost ?? 0) + (row.cost ?? 0),
      ...((sum.priceUnknown || row.priceUnknown) && { priceUnknown: true }),
    }),
    first,
  );
}
