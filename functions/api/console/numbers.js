// Reads numbers that people type into a form. Pure.

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Returns the typed number of a field (see schema.js), or calls `refuse` with the reason. */
export function readNumber(field, text, refuse) {
  const { isInteger, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field;
  const value = Number(text);
  if (!NUMBER.test(text) || !Number.isFinite(value))
    return refuse(`Enter ${expectedText(field)}${pointAdvice(field, text)}.`);
  if (isInteger && !Number.isInteger(value)) return refuse(`Enter ${expectedText(field)}.`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return refuse('This number is too long to be sent exactly.');
  if (value < minimum) return refuse(`This must be at least ${minimum}.`);
  if (value > maximum) return refuse(`This must be at most ${maximum}.`);
  if (value <= exclusiveMinimum) return refuse(`This must be more than ${exclusiveMinimum}.`);
  if (value >= exclusiveMaximum) return refuse(`This must be less than ${exclusiveMaximum}.`);
  const steps = value / multipleOf;
  // In binary floating point, 0.3 / 0.1 is not exactly 3.
  const isStep = Math.abs(steps - Math.round(steps)) <= 1e-9 * Math.max(1, Math.abs(steps));
  if (multipleOf > 0 && !isStep) return refuse(`This must be a multiple of ${multipleOf}.`);
  return value;
}

function expectedText({
  isInteger,
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf,
}) {
  const isBetween = minimum !== undefined && maximum !== undefined;
  const limits = [
    isBetween ? `from ${minimum} to ${maximum}` : '',
    !isBetween && minimum !== undefined ? `of at least ${minimum}` : '',
    !isBetween && maximum !== undefined ? `of at most ${maximum}` : '',
    exclusiveMinimum === undefined ? '' : `above ${exclusiveMinimum}`,
    exclusiveMaximum === undefined ? '' : `below ${exclusiveMaximum}`,
  ];
  const number = [isInteger ? 'a whole number' : 'a number', limits.filter(Boolean).join(' and ')]
    .filter(Boolean)
    .join(' ');
  return multipleOf === undefined ? number : `${number}, in steps of ${multipleOf}`;
}

// In many countries people type a decimal comma.
function pointAdvice({ isInteger }, text) {
  const hasComma = !isInteger && text.includes(',') && NUMBER.test(text.replace(',', '.'));
  return hasComma ? '; use a point for decimals, not a comma' : '';
}
