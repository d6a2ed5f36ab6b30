// The runs of a space, and what became of each message. Pure.

import type { LiveStep, Subscribed } from './events.ts';
import type { ActiveRun, Dispatch, Hint, Outcome, Run } from './types.ts';

export interface Runs {
  /** The active runs, oldest first. */
  active(): ActiveRun[];
  /** The newest known state of a run. */
  get(runId: string): Run | undefined;
  /** Failed runs, oldest first. */
  failed(): Run[];
  /** What the system told the models, by the ids of the runs. */
  hints(): Record<string, readonly Hint[]>;
  hasEnded(runId: string | undefined): boolean;
  status(runId: string): Run['status'] | undefined;
  /** Adds a state of a run. */
  put(run: Run, position?: number | null): void;
  /** Adds a state of the step that a run works on. */
  putStep(runId: string, step: LiveStep): void;
  /**
   * Replaces all active runs with those of a `subscribed` frame. Returns whether one was dropped or
   * changed: this happened meanwhile, or events have overtaken the frame.
   */
  replaceActive(active: Subscribed['active']): boolean;
}

// A run is queued before its first step, waits after a step and resumes before the next one.
const ORDER = { queued: -1, waiting_tool: 0, running: 1 } as const;
const isActive = (status: Run['status']): status is ActiveRun['status'] => status in ORDER;

export function createRuns(): Runs {
  const known = new Map<string, Run>();
  const steps = new Map<string, LiveStep>();
  let active = new Map<string, ActiveRun>();
  const hasEnded = (runId = '') => {
    const run = known.get(runId);
    return run !== undefined && !isActive(run.status);
  };
  const orderOf = ({ status, stepCount }: Run) =>
    2 * stepCount + (isActive(status) ? ORDER[status] : Infinity);
  const shown = (run: Omit<ActiveRun, 'step' | 'tools'>): ActiveRun => {
    const step = steps.get(run.runId);
    return { ...run, step: step?.index ?? null, tools: step?.calls.map(({ name }) => name) ?? [] };
  };
  return {
    active: () => [...active.values()],
    get: (runId) => known.get(runId),
    failed: () =>
      [...known.values()]
        .filter(({ status }) => status === 'failed')
        .sort((one, other) => endOf(one) - endOf(other)),
    hints() {
      const found: Record<string, readonly Hint[]> = {};
      for (const { id, hints } of known.values()) if (hints?.length) found[id] = hints;
      return found;
    },
    hasEnded,
    status: (runId) => active.get(runId)?.status ?? known.get(runId)?.status,
    put(run, position) {
      const { id: runId, agentId, status } = run;
      const current = known.get(runId);
      // Frames arrive in any order. A run that has ended never becomes active again.
      if (current && (hasEnded(runId) || orderOf(current) > orderOf(run))) return;
      known.set(runId, run);
      if (isActive(status))
        active.set(
          runId,
          shown({ runId, agentId, status, position: (status === 'queued' && position) || null }),
        );
      else active.delete(runId);
    },
    putStep(runId, step) {
      if ((steps.get(runId)?.rev ?? -1) >= step.rev) return;
      steps.set(runId, step);
      const run = active.get(runId);
      if (run) active.set(runId, shown(run));
    },
    replaceActive(list) {
      const before = active;
      const listed = list.filter(({ runId }) => !hasEnded(runId));
      active = new Map(
        listed.map((run) => {
          const existing = before.get(run.runId);
          // No run is queued again.
          const isKept = existing && (run.status === 'queued' || run.status === existing.status);
          return [run.runId, isKept ? existing : shown({ ...run, position: null })];
        }),
      );
      return [...before.values()].some(({ runId, status }) => active.get(runId)?.status !== status);
    },
  };
}

/** When a run ended or, if it has not, began, in milliseconds. */
export const endOf = (run: Run) => Date.parse(run.finishedAt ?? run.createdAt);

/** What else decides what became of a message. Sets have the ids of runs. */
export interface Circumstances {
  /** Those that have posted something. */
  spoken: Set<unknown>;
  /** Those that are writing now. */
  writing: Set<unknown>;
  /** Those that have ended just now. */
  settling: Set<unknown>;
  /** The message is new: of its runs nothing is heard until they start. */
  isNew: boolean;
}

/** What became of a message for one agent. */
export function outcomeOf(
  { agentId, runId, reason, reasonText, source }: Dispatch,
  runs: Runs,
  { spoken, writing, settling, isNew }: Circumstances,
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
  let run = runs.get(runId);
  while (run?.intoRunId && runs.get(run.intoRunId)) run = runs.get(run.intoRunId);
  const id = run?.id ?? runId;
  const status = runs.status(id);
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
    const isOver = !settling.has(id) || run?.endReason === 'skipped';
    return isOver ? outcome('silent', run?.reason) : outcome('thinking');
  }
  return status === 'canceled'
    ? outcome('stopped', run?.endReason)
    : outcome(isNew ? 'asked' : 'unknown');
}
