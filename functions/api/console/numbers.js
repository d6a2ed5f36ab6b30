// Numbers in a form: reading what was typed, and saying what is asked for. Pure.

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The number that was typed into a field (schema.js); `refuse` is told why there is none that fits. */
export function readNumber(field, text, refuse) {
  const { isInteger, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field;
  const value = Number(text);
  if (!NUMBER.test(text) || !Number.isFinite(value)) return refuse(`Write ${wanted(field)}${pointAdvice(field, text)}.`);
  if (isInteger && !Number.isInteger(value)) return refuse(`Write ${wanted(field)}.`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return refuse('This number is too long to be sent exactly.');
  if (value < minimum) return refuse(`This has to be at least ${minimum}.`);
  if (value > maximum) return refuse(`This has to be at most ${maximum}.`);
  if (value <= exclusiveMinimum) return refuse(`This has to be more than ${exclusiveMinimum}.`);
  if (value >= exclusiveMaximum) return refuse(`This has to be less than ${exclusiveMaximum}.`);
  const steps = value / multipleOf;
  // Binary numbers miss 0.3 / 0.1 by a little.
  const isStep = Math.abs(steps - Math.round(steps)) <= 1e-9 * Math.max(1, Math.abs(steps));
  if (multipleOf > 0 && !isStep) return refuse(`This has to be a multiple of ${multipleOf}.`);
  return value;
}

function wanted({ isInteger, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }) {
  const isBetween = minimum !== undefined && maximum !== undefined;
  const limits = [
    isBetween ? `from ${minimum} to ${maximum}` : '',
    !isBetween && minimum !== undefined ? `of at least ${minimum}` : '',
    !isBetween && maximum !== undefined ? `of at most ${maximum}` : '',
    exclusiveMinimum === undefined ? '' : `above ${exclusiveMinimum}`,
    exclusiveMaximum === undefined ? '' : `below ${exclusiveMaximum}`,
  ];
  const number = [isInteger ? 'a whole number' : 'a number', limits.filter(Boolean).join(' and ')].filter(Boolean).join(' ');
  return multipleOf === undefined ? number : `${number}, in steps of ${multipleOf}`;
}

// In much of the world decimals follow a comma.
function pointAdvice({ isInteger }, text) {
  const hasComma = !isInteger && text.includes(',') && NUMBER.test(text.replace(',', '.'));
  return hasComma ? '; decimals follow a point, not a comma' : '';
}
