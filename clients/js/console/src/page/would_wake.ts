// Whom the text in the composer would wake, and why not the others.

import type { Dispatch, Outcome } from '@smartspace/client';
import { usePreview } from '@smartspace/react';
import type { Cast } from './members.ts';
import { reasonOf } from './outcomes.ts';

/** One line about a text, or '' while there is nothing to say. */
export function useWouldWake(text: string, { senderId, nameOf }: Cast): string {
  const { dispatch, error } = usePreview(text, senderId === null ? {} : { senderId });
  if (text.trim() === '' || error || dispatch.length === 0) return '';
  const words = [wokenText(dispatch, nameOf), othersText(dispatch, nameOf)];
  return words.filter((each) => each !== '').join(' · ');
}

type NameOf = Cast['nameOf'];

function wokenText(dispatch: readonly Dispatch[], nameOf: NameOf): string {
  const woken = dispatch.filter(({ reason }) => !reason);
  if (woken.length === 0) return 'Would wake nobody';
  return `Would wake ${woken.map(({ agentId }) => nameOf(agentId)).join(', ')}`;
}

// `not Pax, Ben (paused), Fay (budget used up)`
function othersText(dispatch: readonly Dispatch[], nameOf: NameOf): string {
  const groups = new Map<string, string[]>();
  for (const { agentId, reason, reasonText } of dispatch) {
    if (!reason) continue;
    const why = reasonOf({ state: 'notWoken', reason: reasonText ?? reason } as Outcome) ?? reason;
    groups.set(why, [...(groups.get(why) ?? []), nameOf(agentId)]);
  }
  const parts = [...groups].map(([why, names]) => `${names.join(', ')} (${why})`);
  return parts.length > 0 ? `not ${parts.join(', ')}` : '';
}
