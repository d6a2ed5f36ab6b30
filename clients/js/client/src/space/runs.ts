// The runs of a space, and what became of each message. Pure.

import type { Subscribed } from '../events.ts';
import { STALE_MS } from '../limits.ts';
import type { ActiveRun, Dispatch, Hint, LiveStep, Message, Outcome, Run } from '../types.ts';

/** What is known of the runs of a space. */
export interface Runs {
  /** The newest known states, by the ids of the runs. */
  readonly known: ReadonlyMap<string, Run>;
  /** The steps that runs work on. */
  readonly steps: ReadonlyMap<string, LiveStep>;
  /** The active runs, oldest first. */
  readonly active: ReadonlyMap<string, ActiveRun>;
  /** Runs that have ended just now. Their last message may still come. */
  readonly settling: ReadonlySet<string>;
  /** Where the next older page of runs begins; null at the newest one. */
  readonly cursor: string | null;
  /** The runs of messages up to this seq are loaded. */
  readonly loadedUntil: number;
  /** Events have missed what became of a run. */
  readonly isRunMissing: boolean;
  /** When a run was last heard of, and after how long a silence they are looked up. */
  readonly heardAt: number;
  readonly staleMs: number;
}


export const NO_RUNS: Runs = {
  known: new Map(),
  steps: new Map(),
  active: new Map(),
  settling: new Set(),
  cursor: null,
  loadedUntil: 0,
  isRunMissing: false,
  heardAt: 0,
  staleMs: STALE_MS,
};

// A run is queued before its first step, waits after a step and resumes before the next one.
const ORDER = { queued: -1, waiting_tool: 0, running: 1 } as const;
const isActive = (status: Run['status']): status is ActiveRun['status'] => status in ORDER;

const orderOf = ({ status, stepCount }: Run) =>
  2 * stepCount + (isActive(status) ? ORDER[status] : Infinity);

export function hasEnded({ known }: Pick<Runs, 'known'>, runId = ''): boolean {
  const run = known.get(runId);
  return run !== undefined && !isActive(run.status);
}

export const statusOf = ({ active, known }: Runs, runId: string) =>
  active.get(runId)?.status ?? known.get(runId)?.status;

/** Failed runs, oldest first. */
export const failedRuns = ({ known }: Runs): Run[] =>
  [...known.values()]
    .filter(({ status }) => status === 'failed')
    .sort((one, other) => endOf(one) - endOf(other));

/** What the system said to the models, by the ids of the runs. */
export function hintsOf({ known }: Runs): Record<string, readonly Hint[]> {
  const found: Record<string, readonly Hint[]> = {};
  for (const { id, hints } of known.values()) if (hints?.length) found[id] = hints;
  return found;
}

/** Whether a message triggered a run of which nothing was heard. */
export const isUnheard = ({ loadedUntil, known }: Runs, { seq, dispatch }: Message) =>
  seq > loadedUntil && !!dispatch?.some(({ runId }) => runId && !known.has(runId));

/** Adds states of runs. `position` is that in the queue, from 1. */
export function withRuns(runs: Runs, states: readonly Run[], position?: number | null): Runs {
  const known = new Map(runs.known);
  const active = new Map(runs.active);
  for (const run of states) {
    const { id: runId, agentId, status } = run;
    const current = known.get(runId);
    // Frames arrive in any order. A run that has ended never becomes active again.
    if (current && (hasEnded({ known }, runId) || orderOf(current) > orderOf(run))) continue;
    known.set(runId, run);
    const place = (status === 'queued' && position) || null;
    if (isActive(status))
      active.set(runId, shown(runs, { runId, agentId, status, position: place }));
    else active.delete(runId);
  }
  return { ...runs, known, active };
}

/** Adds a state of the step that a run works on. */
export function withStep(runs: Runs, runId: string, step: LiveStep): Runs {
  if ((runs.steps.get(runId)?.rev ?? -1) >= step.rev) return runs;
  const next = { ...runs, steps: new Map(runs.steps).set(runId, step) };
  const run = runs.active.get(runId);
  return run ? { ...next, active: new Map(runs.active).set(runId, shown(next, run)) } : next;
}

const shown = ({ steps }: Runs, run: Omit<ActiveRun, 'step' | 'tools'>): ActiveRun => {
  const step = steps.get(run.runId);
  return { ...run, step: step?.index ?? null, tools: step?.calls.map(({ name }) => name) ?? [] };
};

/**
 * Replaces all active runs with those of a `subscribed` frame. A run that was dropped or changed is
 * missing: this happened meanwhile, or events have overtaken the frame.
 */
export function withActive(runs: Runs, list: Subscribed['active']): Runs {
  const before = runs.active;
  const active = new Map<string, ActiveRun>();
  for (const run of list) {
    if (hasEnded(runs, run.runId)) continue;
    const existing = before.get(run.runId);
    // No run is queued again.
    const isKept = existing && (run.status === 'queued' || run.status === existing.status);
    active.set(run.runId, isKept ? existing : shown(runs, { ...run, position: null }));
  }
  const isRunMissing = [...before.values()].some(
    ({ runId, status }) => active.get(runId)?.status !== status,
  );
  return { ...runs, active, isRunMissing: isRunMissing || runs.isRunMissing };
}

/** When a run ended or, if it has not, began, in milliseconds. */
export const endOf = (run: Run) => Date.parse(run.finishedAt ?? run.createdAt);

/** What else decides what became of a message. Sets have the ids of runs. */
export interface Circumstances {
  /** Those that have posted something. */
  spoken: Set<unknown>;
  /** Those that are writing now. */
  writing: Set<unknown>;
  /** The message is new: of its runs nothing is heard until they start. */
  isNew: boolean;
}

/** What became of a message for one agent. */
export function outcomeOf(
  { agentId, runId, reason, reasonText, source }: Dispatch,
  runs: Runs,
  { spoken, writing, isNew }: Circumstances,
): Outcome {
  const sourceText = (runId && reasonText) || null;
  const outcome = (state: Outcome['state'], why?: string | null): Outcome => ({
    agentId,
    runId,
    state,
    reason: why ?? null,
    source: source ?? null,
    sourceText,
  });
  if (runId === null) return outcome('notWoken', reasonText ?? reason);
  // A run that joined another one shares its fate.
  let run = runs.known.get(runId);
  while (run?.intoRunId && runs.known.has(run.intoRunId)) run = runs.known.get(run.intoRunId);
  const id = run?.id ?? runId;
  const status = statusOf(runs, id);
  if (status === 'queued') return outcome('asked');
  if (status === 'waiting_tool') return outcome('waiting');
  // The message may come after the end of its run.
  if (writing.has(id) && status !== 'canceled' && status !== 'failed') return outcome('writing');
  if (status === 'running') return outcome('thinking');
  if (status === 'failed') return outcome('failed', run?.error?.message);
  // What was stopped may have posted something before.
  const isStopped = run?.endReason === 'cancel' || run?.endReason === 'stop_run';
  if (spoken.has(id) && !isStopped) return outcome('spoke');
  if (status === 'completed') {
    const isOver = !runs.settling.has(id) || run?.endReason === 'skipped';
    return isOver ? outcome('silent', run?.reason) : outcome('thinking');
  }
  return status === 'canceled'
    ? outcome('stopped', run?.endReason)
    : outcome(isNew ? 'asked' : 'unknown');
}
