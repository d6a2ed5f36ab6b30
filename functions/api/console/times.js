// How times and what is left until them read. Pure.

const UNITS = [['days', 86_400_000], ['h', 3_600_000], ['min', 60_000]];

/** A time of day, with its date where that is not today. */
export function timeText(at) {
  const when = new Date(at);
  const time = when.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return when.toDateString() === new Date().toDateString() ? time : `${when.toLocaleDateString()} ${time}`;
}

/** A span of time, rounded; in the larger unit from two of it on, as half of a single one would be too much to be wrong by. */
export function spanText(lengthMs) {
  const [unit, size] = UNITS.find(([, size]) => lengthMs >= 2 * size) ?? ['s', 1000];
  return `${Math.max(1, Math.round(lengthMs / size))} ${unit}`;
}
