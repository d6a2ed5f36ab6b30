// What the inbox says of a card that waits for the caller. Pure.

import type { InboxItem } from '@smartspace/client';
import { spanText } from '../../ui/times.ts';
import { isolated, visible } from '../../ui/visible.ts';
import { questionOf } from './question.ts';

/** The question of a form, or the call that waits. */
export function headingOf({ kind, agent, tool, input }: InboxItem): string {
  return kind === 'approval'
    ? `${isolated(agent.name)} wants to call ${visible(tool)}`
    : visible(questionOf({ name: tool, input, ui: 'form' }).heading);
}

/** What the card waits for. */
export const kindText = ({ kind }: InboxItem): string => (kind === 'form' ? 'Form' : 'Approval');

/** The time that is left. */
export function leftText({ expiresAt }: InboxItem, now: number): string {
  const left = Date.parse(expiresAt) - now;
  return left > 0 ? `${spanText(left)} left` : 'expired';
}
