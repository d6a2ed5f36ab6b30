// The runs of a space, and what became of each message. Pure.

import type { Subscribed } from '../frames.ts';
import { STALE_MS } from '../limits.ts';
import type { Mutable } from '../store.ts';
import type { History } from './history.ts';
import type { ActiveRun, Dispatch, Hint, LiveStep, Message, Outcome, Run } from '../types.ts';

/** What is known of the runs of a space. */
export interface Runs {
  /** The newest known states, by the ids of the runs. */
  readonly runs: ReadonlyMap<string, Run>;
  /** The steps that runs work on. */
  readonly steps: ReadonlyMap<string, LiveStep>;
  /** What watchers said to the models of runs, by the ids of the runs. */
  readonly hints: Readonly<Record<string, readonly Hint[]>>;
  /** The active runs, oldest first. */
  readonly active: ReadonlyMap<string, ActiveRun>;
  /** Runs that have ended just now. Their last message may still come. */
  readonly justEnded: ReadonlySet<string>;
  /** Where the next older page of runs begins; null at the newest one. */
  readonly cursor: string | null;
  /** The runs of messages up to this seq are loaded. */
  readonly loadedUntil: number;
  /** Events have missed what became of a run. */
  readonly isRunMissing: boolean;
  /** When the last frame of a run came, and after how long a silence the runs are looked up. */
  readonly lastFrameAt: number;
  readonly staleMs: number;
}

type Draft = Mutable<Runs>;

export const NO_RUNS: Runs = {
  runs: new Map(),
  steps: new Map(),
  hints: {},
  active: new Map(),
  justEnded: new Set(),
  cursor: null,
  loadedUntil: 0,
  isRunMissing: false,
  lastFrameAt: 0,
  staleMs: STALE_MS,
};

// A run is queued before its first step, waits after a step and resumes before the next one.
const ORDER = { queued: -1, waiting_tool: 0, running: 1 } as const;
const isActive = (status: Run['status']): status is ActiveRun['status'] => status in ORDER;

const orderOf = ({ status, stepCount }: Run) =>
  2 * stepCount + (isActive(status) ? ORDER[status] : Infinity);

/** Whether a state of a run is older than another one. */
export const isOlder = (run: Run, other: Run) => orderOf(run) < orderOf(other);

export function hasEnded(known: Pick<Runs, 'runs'>, runId = ''): boolean {
  const run = known.runs.get(runId);
  return !!run && !isActive(run.status);
}

/** Failed runs, oldest first. */
export const failedRuns = (known: Runs): Run[] =>
  [...known.runs.values()]
    .filter((each) => each.status === 'failed')
    .sort((one, other) => endOf(one) - endOf(other));

/** Adds what watchers said to the model of a run. Frames and lists may both bring the same. */
export function addHints(draft: Draft, runId: string, added?: readonly Hint[] | null) {
  for (const hint of added ?? []) {
    const known = draft.hints[runId] ?? [];
    if (!known.some((each) => each.text === hint.text))
      draft.hints = { ...draft.hints, [runId]: [...known, hint] };
  }
}

/** How many runs of these messages are not known, or have not ended. */
export const undecidedRuns = (known: Pick<Runs, 'runs'> & Pick<History, 'messages'>): number =>
  new Set(
    known.messages.flatMap(({ dispatch }) =>
      (dispatch ?? []).flatMap(({ runId }) => (runId && !hasEnded(known, runId) ? runId : [])),
    ),
  ).size;

/** Whether a message triggered a run of which nothing is known. */
export const hasUnknownRun = (known: Runs, message: Message) =>
  message.seq > known.loadedUntil &&
  !!message.dispatch?.some((each) => each.runId && !known.runs.has(each.runId));

/** Adds states of runs. `position` is that in the queue, from 1. */
export function putRuns(draft: Draft, states: readonly Run[], position?: number | null) {
  const runs = new Map(draft.runs);
  const active = new Map(draft.active);
  for (const run of states) {
    const { id: runId, agentId, status, hints } = run;
    addHints(draft, runId, hints);
    const current = runs.get(runId);
    // Frames arrive in any order. A run that has ended never becomes active again.
    if (current && (hasEnded({ runs }, runId) || isOlder(run, current))) continue;
    runs.set(runId, run);
    const queuePosition = (status === 'queued' && position) || null;
    if (isActive(status))
      active.set(runId, shown(draft, { runId, agentId, status, position: queuePosition }));
    else active.delete(runId);
  }
  draft.runs = runs;
  draft.active = active;
}

/** Adds a state of the step that a run works on. */
export function putStep(draft: Draft, { runId, step }: { runId: string; step: LiveStep }) {
  if ((draft.steps.get(runId)?.rev ?? -1) >= step.rev) return;
  draft.steps = new Map(draft.steps).set(runId, step);
  const run = draft.active.get(runId);
  if (run) draft.active = new Map(draft.active).set(runId, shown(draft, run));
}

type Unstepped = Omit<ActiveRun, 'step' | 'tools' | 'waiting'>;

const shown = ({ steps }: Runs, run: Unstepped): ActiveRun => {
  const step = steps.get(run.runId);
  const tools = step?.calls.map((each) => each.name) ?? [];
  return { ...run, step: step?.index ?? null, tools, waiting: !!step?.waiting };
};

/**
 * Replaces all active runs with those of a `subscribed` frame. A run that was dropped or changed is
 * missing: this happened meanwhile, or events have overtaken the frame.
 */
export function putActive(draft: Draft, list: Subscribed['active']) {
  const before = draft.active;
  const active = new Map<string, ActiveRun>();
  for (const run of list) {
    if (hasEnded(draft, run.runId)) continue;
    const existing = before.get(run.runId);
    // No run is queued again.
    const isKept = existing && (run.status === 'queued' || run.status === existing.status);
    active.set(run.runId, isKept ? existing : shown(draft, { ...run, position: null }));
  }
  draft.active = active;
  draft.isRunMissing ||= [...before.values()].some(
    (run) => active.get(run.runId)?.status !== run.status,
  );
}

/** When a run ended or, if it has not, began, in milliseconds. */
export const endOf = (run: Run) => Date.parse(run.finishedAt ?? run.createdAt);

/**
 * What became of a message for one agent. `spoken` has the ids of the runs that have posted
 * something, and `writing` of those that are writing now. `isNew`: of the runs of this message
 * nothing is known until they start.
 */
export function outcomeOf(
  { agentId, runId, reason, reasonText, source }: Dispatch,
  { runs, active, justEnded }: Runs,
  spoken: ReadonlySet<unknown>,
  writing: ReadonlySet<unknown>,
  isNew: boolean,
): Outcome {
  const sourceText = (runId && reasonText) || null;
  const outcome = (state: Outcome['state'], why: string | null = null): Outcome => ({
    agentId,
    runId,
    state,
    reason: why,
    source: source ?? null,
    sourceText,
  });
  if (runId === null) return outcome('notWoken', reasonText ?? reason);
  // A run that joined another one shares its fate.
  let run = runs.get(runId);
  while (run?.intoRunId && runs.has(run.intoRunId)) run = runs.get(run.intoRunId);
  const id = run?.id ?? runId;
  const status = active.get(id)?.status ?? run?.status;
  if (status === 'queued') return outcome('asked');
  if (status === 'waiting_tool') return outcome('waiting');
  if (status === 'failed') return outcome('failed', run?.error?.message);
  // The message may come after the end of its run.
  if (writing.has(id) && status !== 'canceled') return outcome('writing');
  if (status === 'running') return outcome('thinking');
  // A stopped run may have posted something before.
  const endReason = run?.endReason;
  const isStopped = endReason === 'cancel' || endReason === 'stop_run';
  if (spoken.has(id) && !isStopped) return outcome('spoke');
  if (status === 'completed') {
    if (endReason === 'refusal') return outcome('refused');
    if (justEnded.has(id) && endReason !== 'skipped') return outcome('thinking');
    return outcome('silent', run?.reason ?? endReason);
  }
  return status === 'canceled'
    ? outcome('stopped', endReason)
    : outcome(isNew ? 'asked' : 'unknown');
}
