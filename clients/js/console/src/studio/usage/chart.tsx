// A chart of bars, one for each day, with a part for each series. The tables have its numbers for
// readers who do not see it.

import type { JSX } from 'preact';
import type { Series, UsageItem } from './report.ts';

/** The number of series that differ by color and pattern. */
export const MOST_SERIES = 6;

export interface ChartProps {
  title: string;
  days: readonly string[];
  /** At most `MOST_SERIES`. */
  series: readonly Series[];
  nameOf: (key: string | null) => string;
  /** The number that a bar shows. */
  valueOf: (item: UsageItem) => number;
  textOf: (value: number) => string;
}

/** The chart, with its legend. */
export function Chart({ title, days, series, nameOf, valueOf, textOf }: ChartProps): JSX.Element {
  const value = (each: Series, day: string) => {
    const item = each.days.get(day);
    return item ? valueOf(item) : 0;
  };
  const sums = days.map((day) => series.reduce((sum, each) => sum + value(each, day), 0));
  const highest = Math.max(...sums, 0);
  const marks = days.length > 2 ? [0, Math.floor((days.length - 1) / 2), days.length - 1] : [0];
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <span class="note">{`highest day: ${textOf(highest)}`}</span>
      </figcaption>
      <div class="bars" aria-hidden="true">
        {days.map((day) => (
          <div key={day} class="day-bar">
            {series.map((each, index) => {
              const part = value(each, day);
              if (part === 0) return null;
              return (
                <span
                  key={each.key}
                  class={`fill fill-${index}`}
                  style={{ height: `${(100 * part) / highest}%` }}
                  title={`${day} · ${nameOf(each.key)} · ${textOf(part)}`}
                />
              );
            })}
          </div>
        ))}
      </div>
      <div class="days" aria-hidden="true">
        {[...new Set(marks)].map((index) => (
          <span key={index}>{dayText(days[index] ?? '')}</span>
        ))}
      </div>
      <ul class="chart-legend" aria-label={`${title}: what the patterns mean`}>
        {series.map((each, index) => (
          <li key={each.key}>
            <span class={`swatch fill fill-${index}`} aria-hidden="true" />
            <span dir="auto">{nameOf(each.key)}</span>{' '}
            <span class="note">{textOf(valueOf(each.total))}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** A day in words: `30 Nov`. */
export const dayText = (day: string) =>
  new Date(day).toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
