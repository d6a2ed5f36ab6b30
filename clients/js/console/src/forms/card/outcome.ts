// The outcome of a call with a form, in words. Pure.

import type { ToolPart } from '@smartspace/client';
import { shortened, visible } from '../../ui/visible.ts';
import { isObject, labelOf } from '../schema/json.ts';
import type { NameOf } from './terms.ts';

const LONGEST_CHARS = 300;

type Resolved = Pick<ToolPart, 'ui' | 'status' | 'output' | 'resolvedBy'>;
type Json = Record<string, unknown>;

/** One line, or '' for an open form and for a call without a form. */
export function outcomeText({ ui, status, output, resolvedBy }: Resolved, nameOf: NameOf): string {
  if (typeof ui !== 'string' || status === 'pending') return '';
  const who = typeof resolvedBy === 'string' ? nameOf(resolvedBy) : 'the operator';
  if (status === 'expired') return 'expired: nobody answered in time';
  if (status === 'canceled') return 'canceled: the run ended';
  if (status === 'failed') return withReason('failed', isObject(output) ? output.error : output);
  if (status === 'unknown') return 'the outcome is unknown';
  if (isDeclined(output)) return withReason(`declined by ${who}`, output.reason);
  return isChoice(ui, output) ? `${choiceText(output)} · answered by ${who}` : `answered by ${who}`;
}

/** Whether the card shows the answer itself, because the outcome does not contain it. */
export const hasAnswer = ({ ui, status, output }: Omit<Resolved, 'resolvedBy'>): boolean =>
  status === 'completed' && !isDeclined(output) && !isChoice(ui, output);

const isDeclined = (output: unknown): output is Json =>
  isObject(output) && output.declined === true;

// The answer of option buttons.
const isChoice = (ui: string | null, output: unknown): output is Json =>
  ui === 'buttons' && isObject(output) && Object.hasOwn(output, 'choice');

function choiceText({ choice, comment }: Json): string {
  const isCommented = typeof comment === 'string' && comment !== '';
  return (
    visible(shortened(labelOf(choice), LONGEST_CHARS)) +
    (isCommented ? ` (“${visible(shortened(comment, LONGEST_CHARS))}”)` : '')
  );
}

const withReason = (text: string, reason: unknown): string =>
  typeof reason === 'string' && reason !== ''
    ? `${text}: ${visible(shortened(reason, LONGEST_CHARS))}`
    : text;
