// Whom the text in the composer would wake, and why not the others.

import type { Dispatch } from '@smartspace/client';
import { usePreview } from '@smartspace/react';
import type { Cast } from './members.ts';
import { byRefusal } from './outcomes.ts';

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
  const refused = dispatch.flatMap(({ agentId, reason, reasonText }) =>
    reason ? [{ agentId, reason: reasonText ?? reason }] : [],
  );
  const parts = [...byRefusal(refused)].map(
    ([why, ids]) => `${ids.map(nameOf).join(', ')} (${why})`,
  );
  return parts.length > 0 ? `not ${parts.join(', ')}` : '';
}
