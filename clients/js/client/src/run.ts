// The store of one run: loads it, and loads it again when a frame concerns it.

import type { Connection } from './connection/connection.ts';
import type { Environment } from './environment.ts';
import { runPath, type Call } from './http.ts';
import { createStore, lifetime } from './store.ts';
import { createTimers } from './timers.ts';
import type { ServerFrame } from './frames.ts';
import type { Run, RunState, Store } from './types.ts';

/** The store of a run. It follows the space that shows the run. */
export function createRun(
  env: Environment,
  call: Call,
  connection: Connection,
  runId: string,
): Store<RunState> {
  const timers = createTimers(env);
  let state: RunState = { run: null, step: null, isLoading: true, error: null };
  let unfollow: (() => void) | undefined;

  const set = (more: Partial<RunState>) => {
    state = { ...state, ...more };
    store.changed();
  };

  async function fetchRun() {
    const number = (newest += 1);
    const run = await call<Run>('GET', runPath(runId), { keep: true });
    // A newer call began, or the store was closed.
    if (number !== newest) return;
    set({ run, isLoading: false, error: null });
    const spaceId = spaceOf(run);
    if (spaceId) unfollow ??= connection.follow(onlyFollow(spaceId));
  }

  const load = () =>
    timers.persist('load', fetchRun, (error, isLoading) => set({ error, isLoading }));

  function frameReceived(frame: ServerFrame) {
    if (frame.type === 'run.step' && frame.runId === runId) {
      const { step } = frame;
      if (step.rev <= (state.step?.rev ?? -1)) return;
      set({ step });
      if (step.finishedAt) load();
    } else if (concernsRun(frame, runId, state.run)) load();
  }

  let newest = 0;
  const retain = lifetime(env, () => {
    const stops = [connection.onFrame(frameReceived), connection.retain()];
    load();
    return () => {
      newest += 1;
      timers.stop();
      unfollow?.();
      unfollow = undefined;
      stops.forEach((stop) => stop());
    };
  });

  const store = createStore<RunState>(() => state, retain);
  return store;
}

// Whether a frame says that the run has changed.
const concernsRun = (frame: ServerFrame, runId: string, run: Run | null) =>
  // Events were lost before a subscription.
  (frame.type === 'subscribed' && !!run && frame.spaceId === spaceOf(run)) ||
  ('run' in frame && frame.run.id === runId) ||
  // A remote agent has no steps here. What it posts is the news of its run.
  (frame.type === 'message.created' && frame.message.runId === runId && !!run?.remote);

const spaceOf = (run: Run) =>
  ('spaceId' in run.trigger && run.trigger.spaceId) || run.activeSpaceId;

// `onFrame` brings the frames of the space already, and no messages are wanted.
const onlyFollow = (spaceId: string) => ({
  spaceId,
  lazy: true,
  afterSeq: () => Infinity,
  receive: () => {},
});
