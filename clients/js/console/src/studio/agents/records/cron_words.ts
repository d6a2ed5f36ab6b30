// Common cron schedules in words. Pure. Nothing is computed from them: the server knows the times.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** The schedule in words, or null if it has a form that this function does not know. */
export function cronWords(cron: string): string | null {
  const fields = cron.trim().split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  if (fields.length !== 5) return null;
  const time = timeWords(minute, hour);
  const days = dayWords(day, weekday);
  const months = month === '*' ? '' : listed(month, monthName);
  if (time === null || days === null || months === null) return null;
  const isFixed = /^\d/.test(minute) && /^\d/.test(hour);
  const when = days === '' && isFixed ? 'every day' : days;
  const parts = isFixed ? [when, time] : [time, when];
  if (months !== '') parts.push(`in ${months}`);
  return parts.filter((part) => part !== '').join(' ');
}

function timeWords(minute: string, hour: string): string | null {
  const everyMinutes = stepOf(minute);
  const everyHours = stepOf(hour);
  if (everyMinutes !== null && hour === '*')
    return everyMinutes === 1 ? 'every minute' : `every ${everyMinutes} minutes`;
  if (!/^\d+$/.test(minute)) return null;
  const past = `at minute ${Number(minute)}`;
  if (everyHours !== null)
    return everyHours === 1 ? `every hour ${past}` : `every ${everyHours} hours ${past}`;
  if (!/^\d+(,\d+)*$/.test(hour)) return null;
  const clock = (each: string) => `${each.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  return `at ${joined(hour.split(',').map(clock))}`;
}

// Both days: one match is enough.
function dayWords(day: string, weekday: string): string | null {
  const weekdays = weekday === '*' ? '' : listed(weekday, dayName);
  const days = day === '*' ? '' : listed(day, (text) => (/^\d+$/.test(text) ? text : null));
  if (weekdays === null || days === null) return null;
  const ofMonth = days === '' ? '' : `on day ${days} of the month`;
  const ofWeek = weekdays === '' ? '' : weekdays.includes(' to ') ? weekdays : `on ${weekdays}`;
  return [ofMonth, ofWeek].filter((part) => part !== '').join(' or ');
}

// `*` is a step of one.
function stepOf(field: string): number | null {
  if (field === '*') return 1;
  const step = /^\*\/(\d+)$/.exec(field)?.[1];
  return step === undefined ? null : Number(step);
}

// Numbers, names and ranges of them. Null: something else.
function listed(field: string, nameOf: (text: string) => string | null): string | null {
  const names: string[] = [];
  for (const part of field.split(',')) {
    const ends = part.split('-').map(nameOf);
    if (ends.length > 2 || ends.includes(null)) return null;
    names.push(ends.join(' to '));
  }
  return joined(names);
}

const dayName = (text: string) =>
  /^[0-7]$/.test(text) ? (DAYS[Number(text) % 7] ?? null) : beginningWith(DAYS, text);

const monthName = (text: string) =>
  /^\d+$/.test(text) ? (MONTHS[Number(text) - 1] ?? null) : beginningWith(MONTHS, text);

const beginningWith = (names: readonly string[], text: string) =>
  text.length === 3
    ? (names.find((name) => name.toLowerCase().startsWith(text.toLowerCase())) ?? null)
    : null;

const joined = (parts: readonly string[]) =>
  parts.length < 2
    ? parts.join('')
    : `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;
