// Comparing JSON values and showing them as text. Pure.

/** Whether the value is an object, and neither an array nor null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether two values have the same JSON. */
export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Whether two JSON values are the same. The order of members does not count. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, n) => isEqual(each, other[n]));
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => name in other && isEqual(one[name], other[name]))
  );
}

/** A string as it is, any other value as compact JSON. */
export const wordsFor = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** The label of an option: its own `label` if it has one, otherwise its value. */
export function labelOf(option: unknown): string {
  if (isObject(option) && typeof option.label === 'string' && option.label !== '')
    return option.label;
  return option === '' ? '""' : wordsFor(option);
}
