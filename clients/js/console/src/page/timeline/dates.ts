// Shows days as text. Pure.

const DAY_MS = 86_400_000;

/** The day that begins at `at`: today, yesterday, or its date. */
export function dayText(at: number, now: number): string {
  const today = new Date(now).setHours(0, 0, 0, 0);
  // A day with a change of the clock has 23 or 25 hours.
  const daysAgo = Math.round((today - at) / DAY_MS);
  if (daysAgo === 0) return 'Today';
  if (daysAgo === 1) return 'Yesterday';
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  const year = isThisYear ? {} : ({ year: 'numeric' } as const);
  return new Date(at).toLocaleDateString([], {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...year,
  });
}
