// The agents that the text in the composer would wake, and the reasons why others would not wake.

import type { Dispatch } from '@smartspace/client';
import { usePreview } from '@smartspace/react';
import type { SpaceMembers } from '../../members/space_members.ts';
import { byRefusal } from '../../why/outcomes.ts';

/** One line about a text, or '' while there is nothing to say. */
export function useWouldWake(
  text: string,
  { senderId, nameOf }: SpaceMembers,
  replyTo?: number,
): string {
  const options = { replyTo, ...(senderId !== null && { senderId }) };
  const { dispatch, error } = usePreview(text, options);
  return text.trim() === '' || error ? '' : previewText(dispatch, nameOf);
}

/** The decisions of a preview in a line. */
export function previewText(dispatch: readonly Dispatch[], nameOf: NameOf): string {
  if (dispatch.length === 0) return '';
  const undecided = dispatch.filter(asksRouter);
  const decided = dispatch.filter((each) => !asksRouter(each));
  const words = [
    wokenText(decided, undecided, nameOf),
    routedText(undecided, nameOf),
    othersText(decided, nameOf),
  ];
  return words.filter((each) => each !== '').join(' · ');
}

type NameOf = SpaceMembers['nameOf'];

function wokenText(
  decided: readonly Dispatch[],
  undecided: readonly Dispatch[],
  nameOf: NameOf,
): string {
  const woken = decided.filter(({ reason }) => !reason);
  if (woken.length > 0) return `Would wake ${names(woken, nameOf)}`;
  return undecided.length > 0 ? '' : 'Would wake nobody';
}

// The gate has decided about an agent if the text has its score.
const asksRouter = ({ reason, reasonText }: Dispatch): boolean =>
  reason === 'router' && !reasonText?.startsWith('gate ');

// A preview does not ask the router of the space, which costs a call of a model.
function routedText(undecided: readonly Dispatch[], nameOf: NameOf): string {
  return undecided.length > 0 ? `The router chooses from ${names(undecided, nameOf)}` : '';
}

const names = (dispatch: readonly Dispatch[], nameOf: NameOf): string =>
  dispatch.map(({ agentId }) => nameOf(agentId)).join(', ');

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
