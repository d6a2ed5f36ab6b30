// How times and what is left until them read. Pure.

const UNITS = [['day', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1000]];

/** A time of day, with its date where that is not today. */
export function timeText(at) {
  const when = new Date(at);
  const time = when.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return when.toDateString() === new Date().toDateString() ? time : `${when.toLocaleDateString()} ${time}`;
}

/** Until when something can be answered, as it stands at `now`. */
export function deadlineText(at, now) {
  const left = at - now;
  if (left <= 0) return `time was up at ${timeText(at)}`;
  const [unit, length] = UNITS.find(([, size]) => left >= size) ?? UNITS.at(-1);
  const count = Math.max(1, Math.floor(left / length));
  return `answer by ${timeText(at)} (in ${count} ${unit === 'day' && count > 1 ? 'days' : unit})`;
}
