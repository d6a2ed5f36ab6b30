// The work of a run and its reasons, in words. Pure.

import type { Hint, LiveStep, Run } from '@smartspace/client';

type EndReason = NonNullable<Run['endReason']>;

const SOURCES = {
  broadcast: 'everyone is asked here',
  mention: 'it was mentioned',
  reply: 'the message replies to it',
  router: 'the router chose it',
  delegated: 'another agent handed it on',
  admin: 'it is the admin agent of this space',
  auto: 'it answers this message as the policy of this space says',
  partner: 'the sender talked with it last',
  unanswered: 'nobody has answered this question',
} as const;

/** Why a message triggered a run, with the term of the API. */
export const sourceWords = (source: keyof typeof SOURCES): string =>
  `${SOURCES[source]} (${source})`;

/** A chain depth in words, with its limit if it is known. */
export const inARow = (depth: number, most?: number): string =>
  depth === 1 && most === undefined
    ? '1 answer'
    : `${depth}${most === undefined ? '' : ` of at most ${most}`} answers in a row`;

/** How many answers of agents led to a run: its chain depth. */
export function depthWords(depth: number): string {
  if (depth === 0) return 'no agent had answered before (depth 0)';
  return `after ${depth} ${depth === 1 ? 'answer' : 'answers'} of agents (depth ${depth})`;
}

// Ends that the agent did not choose: if it said nothing, it did not decide to be silent.
const UNCHOSEN: readonly EndReason[] = ['refusal', 'length', 'max_steps', 'time_limit'];

/** The question that the drawer answers. */
export function questionOf({ status, endReason }: Run, name: string, hasSpoken: boolean): string {
  switch (status) {
    case 'queued':
      return `Why does ${name} wait?`;
    case 'running':
      return `What is ${name} doing?`;
    case 'waiting_tool':
      return `What does ${name} wait for?`;
    case 'failed':
      return `Why did ${name} fail?`;
    case 'canceled':
      return `Why did ${name} stop?`;
    case 'completed':
      if (endReason === 'skipped') return `Why did ${name} stay silent?`;
      if (hasSpoken) return `Why did ${name} speak?`;
      return endReason !== null && UNCHOSEN.includes(endReason)
        ? `Why did ${name} not answer?`
        : `Why did ${name} stay silent?`;
  }
}

const STATUSES: Record<Run['status'], string> = {
  queued: 'waits in the queue',
  running: 'running',
  waiting_tool: 'waits for an answer',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
};

export const statusWords = (run: Run, live: LiveStep | null = null): string =>
  isWaiting(run, live) ? 'waiting for the model' : STATUSES[run.status];

/** Whether the model's server has no free place for the step, as the last frame says. */
export const isWaiting = ({ status }: Run, live: LiveStep | null): boolean =>
  status === 'running' && live?.waiting === true;

const ENDINGS: Record<EndReason | 'deleted', string> = {
  done: 'it had nothing more to do',
  skipped: 'it chose to stay silent',
  delegated: 'it handed the message on',
  refusal: 'its model refused to answer',
  length: 'its answers were cut at their limit of tokens',
  max_steps: 'it reached its limit of steps',
  time_limit: 'it reached its time limit',
  cancel: 'a person stopped it',
  declined: 'people ended it in place of approving a call',
  stop_run: 'another run of the agent stopped it',
  absorbed: 'another run of the agent took over',
  superseded: 'a newer message took its place',
  coalesced: 'another run answers its message, too',
  removed: 'the agent has left, or the space is deleted',
  deleted: 'the message that it answered is deleted',
};

/** Why a run ended, or null if there is nothing to say. A failed run has an error instead. */
export function endWords({ endReason, remote }: Run): string | null {
  if (endReason === null) return null;
  return remote && endReason === 'done' ? 'it reported that it was done' : ENDINGS[endReason];
}

/** A message of the system to the model, which speaks to the model and not to the reader. */
export const toModel = ({ text }: Hint): string => `To the model: “${text}”`;

/** The duration of a run, and its usage, for readers who may know it. */
export function factsOf(run: Run, now: number): string[] {
  const { startedAt, finishedAt, stepCount, usage } = run;
  const to = finishedAt === null ? now : Date.parse(finishedAt);
  const length = startedAt === null ? 'not started' : durationText(to - Date.parse(startedAt));
  if (run.remote) {
    const reported = reportedText(run);
    return [length, 'works elsewhere', ...(reported ? [`reported by the agent: ${reported}`] : [])];
  }
  return [
    length,
    `${stepCount} ${stepCount === 1 ? 'step' : 'steps'}`,
    ...(usage ? [`${tokensOf(usage).toLocaleString()} tokens`, usageCost(usage)] : []),
  ];
}

const tokensOf = ({ inputTokens, outputTokens }: RunUsage) => inputTokens + outputTokens;

/** The usage that a remote agent has reported; null if it has reported none. */
export function reportedText({ reportedUsage }: Run): string | null {
  if (!reportedUsage) return null;
  const { inputTokens, outputTokens, cost } = reportedUsage;
  return [
    `${(inputTokens ?? 0).toLocaleString()} in`,
    `${(outputTokens ?? 0).toLocaleString()} out`,
    ...(cost === null || cost === undefined ? [] : [costText(cost)]),
  ].join(' · ');
}

/** The parts of a run that only operators see, for other readers. */
export const forOperators = ({ remote }: Run): string =>
  remote
    ? 'Operators also see what the agent was sent, and all that it posted.'
    : 'Operators also see each step and the prompt.';

/** A duration: `384 ms`, `2.4 s`, `3 min 5 s`. */
export function durationText(lengthMs: number): string {
  if (lengthMs < 1000) return `${Math.round(lengthMs)} ms`;
  if (lengthMs < 60_000) return `${(lengthMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(lengthMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Dollars, with as many digits as say something. */
export function costText(cost: number | null): string {
  if (cost === null) return PRICE_UNKNOWN;
  if (cost === 0) return '$0';
  return `$${cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(2)}`;
}

const PRICE_UNKNOWN = 'price unknown';

/** The tokens and the cost of a run. */
export type RunUsage = NonNullable<Run['usage']>;

/** Whether a model without a price was asked. */
export interface Priced {
  priceUnknown?: boolean;
}

/**
 * The cost of tokens. No tokens cost nothing, even if the model has no price. The tokens of such a
 * model count with the highest price, or as free on an own server.
 */
export function usageCost(usage: RunUsage & Priced): string {
  const { cost, priceUnknown, inputTokens, outputTokens } = usage;
  if (inputTokens + outputTokens === 0) return costText(cost ?? 0);
  if (!priceUnknown) return costText(cost);
  return cost ? `${costText(cost)}, ${PRICE_UNKNOWN}` : PRICE_UNKNOWN;
}
