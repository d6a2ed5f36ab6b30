// Shows times and durations as text. Pure.

const UNITS = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
];

/** A time of day, with its date unless it is today. */
export function timeText(at) {
  const when = new Date(at);
  const time = when.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return when.toDateString() === new Date().toDateString()
    ? time
    : `${when.toLocaleDateString()} ${time}`;
}

/**
 * A rounded duration. A unit is used from two of it on, because "1 day" could be wrong by half a
 * day.
 */
export function spanText(lengthMs) {
  const [unit, size] = UNITS.find(([, size]) => lengthMs >= 2 * size) ?? ['s', 1000];
  return `${Math.max(1, Math.round(lengthMs / size))} ${unit}`;
}
