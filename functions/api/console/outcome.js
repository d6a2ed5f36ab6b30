// What became of a call that asked people, in words. Pure.

import { isObject, labelOf } from './json.js';

const LONGEST_CHARS = 300;

/** One line; '' while it is open, and for calls that asked nobody. `nameOf` names an entity by its id. */
export function outcomeText({ ui, status, output, resolvedBy }, nameOf) {
  if (typeof ui !== 'string' || status === 'pending') return '';
  const who = resolvedBy ? nameOf(resolvedBy) : 'the operator';
  if (status === 'expired') return 'expired: nobody answered in time';
  if (status === 'canceled') return 'canceled: the run ended';
  if (status === 'failed') return withReason('failed', isObject(output) ? output.error : output);
  if (status === 'unknown') return 'it is not known what became of it';
  if (isObject(output) && output.declined === true) return withReason(`declined by ${who}`, output.reason);
  const answer = answerIn(output);
  return answer === '' ? `answered by ${who}` : `${answer} · answered by ${who}`;
}

/** Who may answer, where that is not everyone; else ''. */
export function audienceText(answerBy, nameOf) {
  if (!Array.isArray(answerBy)) return '';
  return answerBy.length > 0 ? `for ${answerBy.map(nameOf).join(', ')}` : 'for the operator';
}

// What has more parts than that stands below, in the output.
function answerIn(output) {
  if (!isObject(output)) return ['string', 'number', 'boolean'].includes(typeof output) ? shortened(labelOf(output)) : '';
  if (!Object.hasOwn(output, 'choice')) return '';
  const comment = typeof output.comment === 'string' && output.comment !== '' ? ` (“${shortened(output.comment)}”)` : '';
  return shortened(labelOf(output.choice)) + comment;
}

const withReason = (text, reason) => (typeof reason === 'string' && reason !== '' ? `${text}: ${shortened(reason)}` : text);

function shortened(text) {
  const characters = [...text];
  return characters.length > LONGEST_CHARS ? `${characters.slice(0, LONGEST_CHARS).join('')}…` : text;
}
