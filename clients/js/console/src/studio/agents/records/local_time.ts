// Times as `datetime-local` fields hold them: in the reader's zone, without saying so. Pure.

/** The time for a field, to the minute. */
export function localText(time: string | null): string {
  if (time === null) return '';
  const at = new Date(time);
  const pad = (n: number) => String(n).padStart(2, '0');
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** The time of a field as the API takes it. */
export function timeOf(text: unknown): string | null {
  const at = new Date(typeof text === 'string' ? text : '');
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
