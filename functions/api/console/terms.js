// Who may answer what an agent asks, and until when. Pure.

import { spanText, timeText } from './times.js';

/** Whether who speaks may answer; null is the operator, who always may. The people of a space are in every group that there is. */
export const mayAnswer = (answerBy, speaker) => speaker === null || !Array.isArray(answerBy) || answerBy.includes(speaker);

/** One line on a call, as it stands at `now`: for whom it is, where that is not everyone, and until when. */
export function termsText({ answerBy, expiresAt }, nameOf, now) {
  const who = Array.isArray(answerBy) ? `for ${either(answerBy.map(nameOf)) || 'the operator'} to answer` : '';
  if (!expiresAt) return who;
  const at = Date.parse(expiresAt);
  if (at > now) return `${who || 'answer'} by ${timeText(at)} (in ${spanText(at - now)})`;
  return [who, `time was up at ${timeText(at)}`].filter(Boolean).join(' · ');
}

/** What to do in order to answer, for one who may not; `people` are those of the space. */
export function switchText(answerBy, people) {
  const names = people.filter(({ id }) => answerBy.includes(id)).map(({ name }) => name);
  return names.length > 0 ? `To answer, switch “as” below to ${either(names)}.` : 'No person in this space may answer this.';
}

const either = (names) => [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' or ');
