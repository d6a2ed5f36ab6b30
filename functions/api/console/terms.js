// The people who may answer a form, and the deadline. Pure.

import { spanText, timeText } from './times.js';

/**
 * Whether this person may answer. Null is the operator, who always may. A group in `answerBy`
 * includes all people of the space.
 */
export const mayAnswer = (answerBy, sender) =>
  sender === null || !Array.isArray(answerBy) || answerBy.includes(sender);

/** One line with the people who may answer, unless everybody may, and the deadline. */
export function termsText({ answerBy, expiresAt }, nameOf, now) {
  const who = Array.isArray(answerBy)
    ? `for ${either(answerBy.map(nameOf)) || 'the operator'} to answer`
    : '';
  if (!expiresAt) return who;
  const at = Date.parse(expiresAt);
  if (at > now) return `${who || 'answer'} by ${timeText(at)} (in ${spanText(at - now)})`;
  return [who, `expired at ${timeText(at)}`].filter(Boolean).join(' · ');
}

/** Advice for a person who may not answer. `people` are the people of the space. */
export function switchText(answerBy, people) {
  const names = people.filter(({ id }) => answerBy.includes(id)).map(({ name }) => name);
  return names.length > 0
    ? `To answer, switch “as” below to ${either(names)}.`
    : 'No person in this space may answer this.';
}

const either = (names) =>
  [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' or ');
