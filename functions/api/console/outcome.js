// The outcome of a call with a form, in words. Pure.

import { isObject, labelOf, shortened } from './json.js';

const LONGEST_CHARS = 300;

/**
 * One line, or '' for an open form and for a call without a form. `nameOf` returns an entity's name
 * by its id.
 */
export function outcomeText({ ui, status, output, resolvedBy }, nameOf) {
  if (typeof ui !== 'string' || status === 'pending') return '';
  const who = resolvedBy ? nameOf(resolvedBy) : 'the operator';
  if (status === 'expired') return 'expired: nobody answered in time';
  if (status === 'canceled') return 'canceled: the run ended';
  if (status === 'failed') return withReason('failed', isObject(output) ? output.error : output);
  if (status === 'unknown') return 'the outcome is unknown';
  if (isDeclined(output)) return withReason(`declined by ${who}`, output.reason);
  return isChoice({ ui, output })
    ? `${choiceText(output)} · answered by ${who}`
    : `answered by ${who}`;
}

/** Whether the card shows the answer itself, because the outcome does not contain it. */
export const hasAnswer = ({ ui, status, output }) =>
  status === 'completed' && !isDeclined(output) && !isChoice({ ui, output });

const isDeclined = (output) => isObject(output) && output.declined === true;

// The answer of option buttons.
const isChoice = ({ ui, output }) =>
  ui === 'buttons' && isObject(output) && Object.hasOwn(output, 'choice');

function choiceText({ choice, comment }) {
  const isCommented = typeof comment === 'string' && comment !== '';
  return (
    shortened(labelOf(choice), LONGEST_CHARS) +
    (isCommented ? ` (“${shortened(comment, LONGEST_CHARS)}”)` : '')
  );
}

const withReason = (text, reason) =>
  typeof reason === 'string' && reason !== ''
    ? `${text}: ${shortened(reason, LONGEST_CHARS)}`
    : text;
