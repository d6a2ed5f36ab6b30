// The agents that the text in the composer would wake, and the reasons why others would not wake.

import type { Dispatch, Outcome } from '@smartspace/client';
import { usePreview } from '@smartspace/react';
import type { SpaceMembers } from '../../members/space_members.ts';
import { byRefusal } from '../../why/outcomes.ts';

const MOST_NAMED = 2;

/** What a text would do. */
export interface WouldWake {
  /** One line, or '' while there is nothing to say. */
  line: string;
  /** What would become of it for each agent. */
  outcomes: readonly Outcome[];
}

export function useWouldWake(
  text: string,
  { senderId, isOperator, nameOf }: SpaceMembers,
  replyTo?: number,
): WouldWake {
  const options = { replyTo, ...(senderId !== null && { senderId }) };
  // A message needs a person.
  const asked = isOperator && senderId === null ? '' : text;
  const { dispatch, error } = usePreview(asked, options);
  const known = asked.trim() === '' || error ? [] : dispatch;
  return { line: previewText(known, nameOf), outcomes: known.map(outcomeIn) };
}

const outcomeIn = ({ agentId, reason, reasonText, source }: Dispatch): Outcome => ({
  agentId,
  runId: null,
  state: reason && reason !== 'router' ? 'notWoken' : 'asked',
  reason: reason ? (reasonText ?? reason) : null,
  source: source ?? null,
  sourceText: reason ? null : (reasonText ?? null),
});

/** The decisions of a preview in a line. */
export function previewText(dispatch: readonly Dispatch[], nameOf: NameOf): string {
  if (dispatch.length === 0) return '';
  const undecided = dispatch.filter(asksRouter);
  const decided = dispatch.filter((each) => !asksRouter(each));
  const words = [
    askedText(decided, undecided, nameOf),
    routedText(undecided, nameOf),
    othersText(decided, nameOf),
  ];
  return words.filter((each) => each !== '').join(' · ');
}

type NameOf = SpaceMembers['nameOf'];

function askedText(
  decided: readonly Dispatch[],
  undecided: readonly Dispatch[],
  nameOf: NameOf,
): string {
  const asked = decided.filter(({ reason }) => !reason);
  if (asked.length > 0) return `asks ${names(asked, nameOf)}`;
  return undecided.length > 0 ? '' : 'asks nobody';
}

// The gate has decided about an agent if the text has its score.
const asksRouter = ({ reason, reasonText }: Dispatch): boolean =>
  reason === 'router' && !reasonText?.startsWith('gate ');

// A preview does not ask the router of the space, which costs a call of a model.
function routedText(undecided: readonly Dispatch[], nameOf: NameOf): string {
  return undecided.length > 0 ? `the router chooses from ${names(undecided, nameOf)}` : '';
}

const names = (dispatch: readonly Dispatch[], nameOf: NameOf): string =>
  dispatch.length > MOST_NAMED
    ? `${dispatch.length} agents`
    : dispatch.map(({ agentId }) => nameOf(agentId)).join(', ');

// `not Pax, Ben (paused)`, or how many they are.
function othersText(dispatch: readonly Dispatch[], nameOf: NameOf): string {
  const refused = dispatch.flatMap(({ agentId, reason, reasonText }) =>
    reason ? [{ agentId, reason: reasonText ?? reason }] : [],
  );
  const [group, another] = byRefusal(refused);
  if (!group) return '';
  const [why, ids] = group;
  if (another) return `not ${refused.length} others`;
  return ids.length > MOST_NAMED
    ? `not ${ids.length} others (${why})`
    : `not ${ids.map(nameOf).join(', ')} (${why})`;
}
