// JSON as rows of a table, if it is flat. Pure.

/** The names and values of a flat object; null for other JSON. */
export function rowsOf(value: unknown): [name: string, text: string][] | null {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.some(([, each]) => !isPlain(each))) return null;
  return entries.map(([name, each]) => [name, each === null ? 'null' : String(each)]);
}

/** JSON on several lines; a text as it is. */
export const jsonText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

const isPlain = (value: unknown) => value === null || typeof value !== 'object';
