// A run of a list in words: its state, its trigger, its times. Pure.

import type { Run } from '@smartspace/client';
import { costText, durationText, usageCost } from '../../why/words.ts';

/** The color of a state. The words say the same. */
export type Tone = 'live' | 'wait' | 'problem' | 'done' | 'plain';

/** The state of a run in words, and more about it: a reason or an error code. */
export interface RunState {
  words: string;
  tone: Tone;
  detail: string | null;
}

const COMPLETED: Record<string, string> = {
  skipped: 'Silent',
  delegated: 'Handed on',
  refusal: 'Its model refused',
  length: 'Cut at its limit of tokens',
  max_steps: 'Ended at its step limit',
  time_limit: 'Ended at its time limit',
};
const CANCELED: Record<string, string> = {
  cancel: 'by a person',
  declined: 'instead of an approval',
  stop_run: 'by another run of the agent',
  absorbed: 'another run took over its work',
  superseded: 'a newer message took its place',
  coalesced: 'another run answers its message',
  removed: 'the agent left the space, or one of them was deleted',
  deleted: 'its message was deleted',
};
// The others have been replaced by another run, or their trigger is gone.
const REPEATABLE = ['cancel', 'stop_run'];

/** Whether the run has not ended. */
export const isActive = ({ status }: Run): boolean =>
  status === 'queued' || status === 'running' || status === 'waiting_tool';

/** Whether a person can repeat the run. */
export const isRepeatable = ({ status, endReason, forkOf }: Run): boolean =>
  !forkOf &&
  (status === 'failed' || (status === 'canceled' && REPEATABLE.includes(endReason ?? '')));

/** The state of a run. `hasSpoken`: whether it has posted a message; null if it is not known. */
export function stateOf(run: Run, hasSpoken: boolean | null = null): RunState {
  const { status, endReason, reason, error } = run;
  switch (status) {
    case 'queued':
      return { words: 'Waiting to start', tone: 'wait', detail: null };
    case 'running':
      return { words: 'Running', tone: 'live', detail: null };
    case 'waiting_tool':
      return { words: 'Waiting', tone: 'wait', detail: null };
    case 'failed':
      return {
        words: 'Failed',
        tone: 'problem',
        detail: error ? `${error.code}: ${error.message}` : null,
      };
    case 'canceled':
      return { words: 'Stopped', tone: 'plain', detail: CANCELED[endReason ?? ''] ?? endReason };
    case 'completed':
      return {
        words: COMPLETED[endReason ?? ''] ?? spokenWords(hasSpoken),
        tone: endReason !== 'skipped' && hasSpoken ? 'done' : 'plain',
        detail: reason ? `“${reason}”` : null,
      };
  }
}

// An agent that had nothing more to do may have posted nothing, without a reason.
const spokenWords = (hasSpoken: boolean | null) =>
  hasSpoken === null ? 'Done' : hasSpoken ? 'Spoke' : 'Silent';

/** The trigger of a run in words. */
export function causeOf({ trigger }: Run): string {
  if ('seq' in trigger) return `Message #${trigger.seq}`;
  if ('planId' in trigger) return 'A plan';
  if ('service' in trigger) return `Service ${trigger.service}`;
  return trigger.type;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The distance of a time from now: `just now`, `5 minutes ago`, `in 2 hours`. */
export function relativeText(at: number, now: number): string {
  const distanceMs = at - now;
  const lengthMs = Math.abs(distanceMs);
  if (lengthMs < MINUTE_MS) return distanceMs > 5000 ? 'in less than a minute' : 'just now';
  const text = amountText(lengthMs);
  return distanceMs > 0 ? `in ${text}` : `${text} ago`;
}

function amountText(lengthMs: number): string {
  const count = (unitMs: number, name: string) => {
    const n = Math.floor(lengthMs / unitMs);
    return `${n} ${name}${n === 1 ? '' : 's'}`;
  };
  if (lengthMs < HOUR_MS) return count(MINUTE_MS, 'minute');
  return lengthMs < 2 * DAY_MS ? count(HOUR_MS, 'hour') : count(DAY_MS, 'day');
}

/** A length of time: `384 ms`, `3 hours`. */
export const spanText = (lengthMs: number): string =>
  lengthMs < HOUR_MS ? durationText(lengthMs) : amountText(lengthMs);

/** How long the run has worked, waiting included. Null: it has not started. */
export function lengthOf({ startedAt, finishedAt }: Run, now: number): string | null {
  if (startedAt === null) return null;
  const to = finishedAt === null ? now : Date.parse(finishedAt);
  return spanText(Math.max(0, to - Date.parse(startedAt)));
}

/** The tokens and the cost of a run, as its row shows them. */
export interface RunNumbers {
  tokens: string;
  cost: string;
  /** The tokens by kind, in words. */
  title: string;
}

/** The usage of a run. Of a remote run it is the usage that its agent has reported. */
export function numbersOf({ usage, remote, reportedUsage }: Run): RunNumbers {
  if (!remote) {
    // An owner's page shows it once the run is loaded again: events do not have it.
    if (!usage) return { tokens: '–', cost: '–', title: 'Not shown here.' };
    const { inputTokens, cachedTokens, outputTokens } = usage;
    const tokens = inputTokens + outputTokens;
    return {
      tokens: tokens.toLocaleString(),
      cost: tokens === 0 ? '–' : usageCost(usage),
      title: `${inputTokens} read, ${cachedTokens} of them cached; ${outputTokens} written`,
    };
  }
  if (!reportedUsage) return { tokens: '–', cost: '–', title: 'The agent reported none.' };
  const { inputTokens = 0, outputTokens = 0, cost } = reportedUsage;
  return {
    tokens: (inputTokens + outputTokens).toLocaleString(),
    cost: cost === null || cost === undefined ? '–' : costText(cost),
    title: `Reported by the agent: ${inputTokens} read, ${outputTokens} written`,
  };
}

/** An id without its middle. */
export const shortId = (id: string): string =>
  id.length > 12 ? `${id.slice(0, 4)}…${id.slice(-4)}` : id;
