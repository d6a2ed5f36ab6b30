// A call that people decide, in words. Pure.

import type { Approval, Member, ToolPart } from '@smartspace/client';
import { spanText, timeText } from '../../ui/times.ts';
import { isolated, shortened, visible } from '../../ui/visible.ts';
import type { NameOf } from '../card/terms.ts';
import { isObject } from '../schema/json.ts';

const LONGEST_CHARS = 300;

/** A call with its approvals. */
export type ApprovalPart = ToolPart & { approval: Approval };

/** Whether people decide this call, or did. */
export const isApproval = (part: object): part is ApprovalPart =>
  'approval' in part && isObject(part.approval);

type Made = Approval['decisions'][number];

/** The people of a space who may decide. */
export const decidersOf = <P extends Pick<Member, 'id' | 'role' | 'guest'>>(
  { by }: Pick<Approval, 'by'>,
  people: readonly P[],
): P[] =>
  people.filter(({ id, role, guest }) => {
    if (guest) return false;
    return by === 'members' || (by === 'owners' ? role === 'owner' : by.includes(id));
  });

/** Who may decide: `owners of this space`. */
export function byText(by: Approval['by'], nameOf: NameOf): string {
  if (by === 'members') return 'members of this space';
  return by === 'owners' ? 'owners of this space' : listed(by.map(nameOf), 'or');
}

/** One line with the people who may decide, and the deadline. */
export function termsText(
  { by }: Approval,
  expiresAt: string | null,
  nameOf: NameOf,
  now: number,
): string {
  const who = `Waits for ${byText(by, nameOf)}`;
  if (!expiresAt) return who;
  const at = Date.parse(expiresAt);
  if (at <= now) return `${who} · expired at ${timeText(at)}`;
  return `${who}, until ${timeText(at)} (in ${spanText(at - now)})`;
}

/** The approvals so far: `1 of 2: Olga, by the operator`. '' if one is enough and none is given. */
export function givenText({ needed, decisions }: Approval): string {
  const made = approvalsIn(decisions);
  if (needed === 1 && made.length === 0) return '';
  const names = namesIn(made);
  const edited = made.some(({ action }) => action === 'edit') ? ' (with another input)' : '';
  return `${made.length} of ${needed} approvals${names && `: ${names}`}${edited}`;
}

/** The people who have approved, each once. */
export const approvalsIn = (decisions: readonly Made[]): Made[] =>
  decisions.filter(
    (made, index) =>
      isYes(made) && decisions.findIndex((each) => isYes(each) && each.by === made.by) === index,
  );

/** The outcome of a call that no longer waits; '' as long as it does. */
export function outcomeText({ approval, status, output }: ApprovalPart): string {
  const { state, decisions } = approval;
  if (state === 'expired') return 'expired: nobody decided in time';
  if (state === 'declined') return declinedText(decisions.at(-1), output);
  if (state !== 'approved') return status === 'canceled' ? 'canceled: the run ended' : '';
  const given = approvalsIn(decisions);
  const edited = decisions.filter(({ action }) => action === 'edit').at(-1);
  const others = given.filter(({ by }) => by !== edited?.by);
  const change = !edited
    ? ''
    : others.length === 0
      ? ', with another input'
      : ` · ${nameIn(edited)} changed the input`;
  return `approved by ${namesIn(given) || 'people'}${change}${afterText(status)}`;
}

function declinedText(made: Made | undefined, output: unknown): string {
  const who = made ? nameIn(made) : 'somebody';
  if (made?.action === 'respond')
    return withText(`answered by ${who}`, isObject(output) ? output.response : null);
  if (made?.action === 'end') return `${who} ended the run`;
  return withText(`declined by ${who}`, isObject(output) ? output.reason : null);
}

function afterText(status: ToolPart['status']): string {
  if (status === 'failed') return ' · the call failed';
  if (status === 'canceled') return ' · the run ended before the call';
  return status === 'pending' ? ' · the call begins' : '';
}

const isYes = ({ action }: Made): boolean => action === 'approve' || action === 'edit';

const nameIn = ({ name, byOperator }: Made): string =>
  isolated(name) + (byOperator ? ', by the operator' : '');

// The operator may have named each of them.
const namesIn = (made: readonly Made[]): string =>
  made.length > 1 && made.every(({ byOperator }) => byOperator)
    ? `${listed(
        made.map(({ name }) => isolated(name)),
        'and',
      )}, by the operator`
    : listed(made.map(nameIn), 'and');

const withText = (words: string, text: unknown): string =>
  typeof text === 'string' && text !== ''
    ? `${words}: ${visible(shortened(text, LONGEST_CHARS))}`
    : words;

const listed = (names: readonly string[], word: 'and' | 'or'): string => {
  // A name that has a comma of its own needs semicolons around it.
  const isPlain = !names.some((name) => name.includes(','));
  const most = names.slice(0, -1).join(isPlain ? ', ' : '; ');
  return [most, ...names.slice(-1)].filter(Boolean).join(isPlain ? ` ${word} ` : `, ${word} `);
};
