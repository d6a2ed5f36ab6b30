// The people who may answer a form, and the deadline. Pure.

import type { AnswerBy, Entity, ToolPart } from '@smartspace/client';
import { spanText, timeText } from '../../ui/times.ts';
import { shownName } from '../../ui/visible.ts';

/** Returns the name of an entity. */
export type NameOf = (entityId: string) => string;

/**
 * Whether this person may answer. Null is the operator, who always may. A group in `answerBy`
 * includes all people of the space.
 */
export const mayAnswer = (answerBy: AnswerBy | null, senderId: string | null): boolean =>
  senderId === null || !Array.isArray(answerBy) || answerBy.includes(senderId);

/** One line with the people who may answer, unless everybody may, and the deadline. */
export function termsText(
  { answerBy, expiresAt }: Pick<ToolPart, 'answerBy' | 'expiresAt'>,
  nameOf: NameOf,
  now: number,
): string {
  const who = Array.isArray(answerBy)
    ? `for ${either(answerBy.map(nameOf)) || 'the operator'} to answer`
    : '';
  if (!expiresAt) return who;
  const at = Date.parse(expiresAt);
  if (at > now) return `${who || 'answer'} by ${timeText(at)} (in ${spanText(at - now)})`;
  return [who, `expired at ${timeText(at)}`].filter(Boolean).join(' · ');
}

/**
 * Advice for an operator whose selected person may not answer. `people` are the people of the
 * space.
 */
export function switchText(
  answerBy: AnswerBy | null,
  people: readonly (Pick<Entity, 'id' | 'name'> & { guest?: boolean })[],
): string {
  const names = people
    .filter(({ id }) => Array.isArray(answerBy) && answerBy.includes(id))
    .map(shownName);
  return names.length > 0
    ? `To answer, switch “as” below to ${either(names)}.`
    : 'No person in this space may answer this.';
}

/** In whose name the operator answers: that of a person, or its own. */
export const senderText = (senderId: string | null, nameOf: NameOf): string =>
  senderId === null ? 'the operator' : nameOf(senderId);

/** Names the people who may answer, for a caller who may not. */
export function onlyText(answerBy: AnswerBy | null, nameOf: NameOf): string {
  if (!Array.isArray(answerBy)) return 'Only people may answer this.';
  return `Only ${either(answerBy.map(nameOf)) || 'the operator'} may answer this.`;
}

const either = (names: readonly string[]): string =>
  [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' or ');
