// JSON values: telling them apart, and putting them in words. Pure.

/** Whether it is an object, not a list and not null. */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether two values are the same JSON. */
export const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** A value on a line: a text as it is, everything else as compact JSON. */
export const wordsFor = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** A choice in words: its own label, where it is an object that has one. */
export function labelOf(option) {
  if (isObject(option) && typeof option.label === 'string' && option.label !== '') return option.label;
  return option === '' ? '""' : wordsFor(option);
}

/** A text cut to so many characters; an ellipsis says that there is more. */
export function shortened(text, longest) {
  const characters = [...text];
  return characters.length > longest ? `${characters.slice(0, longest).join('')}…` : text;
}
