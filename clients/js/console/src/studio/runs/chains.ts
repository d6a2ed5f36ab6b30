// The runs of a list by chain: those that one message set off, and those that their messages set
// off in turn. Pure.

import type { Run } from '@smartspace/client';
import { hasSpoken, triggerIdOf, type ListedRun, type RunMessages } from './listed.ts';
import { isActive, isRepeatable } from './words.ts';

/** The runs of one chain, newest first. Most chains have one run. */
export interface RunGroup {
  key: string;
  runs: readonly ListedRun[];
}

/** The order of the groups. An empty one shows first what runs, waits and has failed. */
export type Sorting = '' | 'time' | 'cost';

/** What a group of runs amounts to. */
export interface Sums {
  steps: number;
  /** Null: nobody may know it. */
  tokens: number | null;
  cost: number | null;
  depth: number;
  /** From the first trigger to the last end, or to now, in milliseconds since 1970. */
  from: number;
  to: number;
}

/** What became of a run, as the room says it. */
export type Outcome =
  'running' | 'queued' | 'waiting' | 'failed' | 'spoke' | 'done' | 'silent' | 'stopped';

// A chain is as deep as its space allows. This holds for data that is wrong.
const DEEPEST = 1000;

/**
 * The runs by chain, in the order of the list. A dry run stands alone, and so does a run that
 * another one repeats.
 */
export function groupsOf(runs: readonly ListedRun[], messages: RunMessages): RunGroup[] {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const repeated = new Set(runs.map(({ retryOf }) => retryOf));
  const groups = new Map<string, ListedRun[]>();
  for (const run of runs) {
    const isAlone = run.forkOf || repeated.has(run.id);
    const key = isAlone ? run.id : keyOf(run, byId, messages);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups].map(([key, runs]) => ({ key, runs }));
}

/** Each run for itself. */
export const singles = (runs: readonly ListedRun[]): RunGroup[] =>
  runs.map((run) => ({ key: run.id, runs: [run] }));

/** The groups in this order; equal ones stay as they are. */
export function sorted(groups: readonly RunGroup[], by: Sorting): RunGroup[] {
  const newest = ({ runs }: RunGroup) => Math.max(...runs.map((run) => Date.parse(run.createdAt)));
  const values = new Map(
    groups.map((group) => [
      group,
      by === 'cost'
        ? [-(costOf(group.runs) ?? 0), -newest(group)]
        : [by === '' ? urgencyOf(group) : 0, -newest(group)],
    ]),
  );
  return [...groups].sort((one, other) => {
    const [first = 0, second = 0] = values.get(one) ?? [];
    const [otherFirst = 0, otherSecond = 0] = values.get(other) ?? [];
    return first - otherFirst || second - otherSecond;
  });
}

/** The sums of these runs. */
export function sumsOf(runs: readonly ListedRun[], now: number): Sums {
  const used = runs.flatMap(({ remote, usage }) => (usage && !remote ? [usage] : []));
  return {
    steps: runs.reduce((sum, { stepCount }) => sum + stepCount, 0),
    tokens:
      used.length === 0
        ? null
        : used.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0),
    cost: costOf(runs),
    depth: Math.max(...runs.map(({ chainDepth }) => chainDepth)),
    from: Math.min(...runs.map(({ startedAt, createdAt }) => Date.parse(startedAt ?? createdAt))),
    to: Math.max(...runs.map(({ finishedAt }) => (finishedAt ? Date.parse(finishedAt) : now))),
  };
}

/** What became of a run. One that posted nothing has been silent. */
export function outcomeOf(run: ListedRun, messages: RunMessages): Outcome {
  switch (run.status) {
    case 'queued':
    case 'running':
    case 'failed':
      return run.status;
    case 'waiting_tool':
      return 'waiting';
    case 'canceled':
      return 'stopped';
    case 'completed':
      return endingOf(run, hasSpoken(run, messages));
  }
}

function endingOf({ endReason }: ListedRun, isSpoken: boolean | null): Outcome {
  if (endReason === 'skipped' || isSpoken === false) return 'silent';
  return isSpoken ? 'spoke' : 'done';
}

const OUTCOMES: readonly Outcome[] = [
  'running',
  'queued',
  'waiting',
  'failed',
  'spoke',
  'done',
  'silent',
  'stopped',
];

/** How many runs had each outcome, the most urgent first. */
export function countsOf(
  runs: readonly ListedRun[],
  messages: RunMessages,
): (readonly [Outcome, number])[] {
  const outcomes = runs.map((run) => outcomeOf(run, messages));
  return OUTCOMES.map(
    (outcome) => [outcome, outcomes.filter((each) => each === outcome).length] as const,
  ).filter(([, count]) => count > 0);
}

/** The run that a chain began with, as far as the list has it. */
export const firstOf = ({ runs }: RunGroup): ListedRun =>
  runs.reduce((first, run) =>
    run.chainDepth < first.chainDepth ||
    (run.chainDepth === first.chainDepth && run.createdAt < first.createdAt)
      ? run
      : first,
  );

/**
 * The agents of a group by their ids, each once: first those whose runs gave it its state, and the
 * first ones first.
 */
export function agentsOf({ runs }: RunGroup, messages: RunMessages): string[] {
  const [[state] = [null]] = countsOf(runs, messages);
  const idsOf = (isFirst: boolean) =>
    [...runs]
      .reverse()
      .filter((run) => (outcomeOf(run, messages) === state) === isFirst)
      .map(({ agentId }) => agentId);
  return [...new Set([...idsOf(true), ...idsOf(false)])];
}

function costOf(runs: readonly Run[]): number | null {
  const costs = runs.flatMap(({ usage, remote }) =>
    usage && !remote && usage.cost !== null ? [usage.cost] : [],
  );
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0);
}

function urgencyOf({ runs }: RunGroup): number {
  if (runs.some(({ status }) => status === 'running' || status === 'queued')) return 0;
  if (runs.some(isActive)) return 1;
  return runs.some((run) => run.status === 'failed' && isRepeatable(run)) ? 2 : 3;
}

// The id of the first message of the chain, or of the run that it began with.
function keyOf(
  run: ListedRun,
  runs: ReadonlyMap<string, ListedRun>,
  { byId }: RunMessages,
): string {
  let { id } = run;
  let trigger: object | null | undefined = run.trigger;
  for (let level = 0; level < DEEPEST; level += 1) {
    const chainId = runs.get(id)?.chainId;
    if (chainId) return chainId;
    const messageId = triggerIdOf(trigger);
    if (messageId === null) return id;
    const message = byId.get(messageId);
    if (!message || message.runId === null) return messageId;
    id = message.runId;
    trigger = runs.get(id)?.trigger ?? message.origin;
  }
  return id;
}
