// Comparing JSON values and showing them as text. Pure.

/** Whether the value is an object, and neither an array nor null. */
export const isObject = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether two values have the same JSON. */
export const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** A string as it is, any other value as compact JSON. */
export const wordsFor = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** The label of an option: its own `label` if it has one, otherwise its value. */
export function labelOf(option) {
  if (isObject(option) && typeof option.label === 'string' && option.label !== '')
    return option.label;
  return option === '' ? '""' : wordsFor(option);
}

/** Shortens a text to `longest` characters and marks the cut with an ellipsis. */
export function shortened(text, longest) {
  const characters = [...text];
  return characters.length > longest ? `${characters.slice(0, longest).join('')}…` : text;
}
