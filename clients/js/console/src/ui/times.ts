// Shows times and durations as text. Pure.

const UNITS: readonly (readonly [unit: string, sizeMs: number])[] = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
];

/** A time of day, with its date unless it is today. `at` is in milliseconds since 1970. */
export function timeText(at: number): string {
  const when = new Date(at);
  const time = when.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return when.toDateString() === new Date().toDateString()
    ? time
    : `${when.toLocaleDateString()} ${time}`;
}

const WEEK_MS = 6 * 86_400_000;

/** In a narrow column: the time of today, the day of this week, or the date. */
export function briefTime(at: number, now: number): string {
  const when = new Date(at);
  if (when.toDateString() === new Date(now).toDateString())
    return when.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return when.toLocaleDateString(
    [],
    now - at < WEEK_MS ? { weekday: 'short' } : { day: 'numeric', month: 'short' },
  );
}

/**
 * A rounded duration. A unit is used from two of it on, because "1 day" could be wrong by half a
 * day.
 */
export function spanText(lengthMs: number): string {
  const [unit, size] = UNITS.find(([, each]) => lengthMs >= 2 * each) ?? ['s', 1000];
  return `${Math.max(1, Math.round(lengthMs / size))} ${unit}`;
}
