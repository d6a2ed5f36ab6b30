// One run, live.

import type { Connection } from './connection.ts';
import type { Environment } from './environment.ts';
import type { Call } from './http.ts';
import { createStore, lifetime, same } from './store.ts';
import { createTimers } from './timers.ts';
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

  const set = (more: Partial<RunState>) => {
    state = same(state, { ...state, ...more });
    store.changed();
  };

  const retain = lifetime(env, () => {
    let unfollow: (() => void) | undefined;
    let isOpen = true;
    const load = () =>
      timers.persist(
        'load',
        async () => {
          const run = await call<Run>('GET', `/v1/runs/${encodeURIComponent(runId)}`);
          // A late answer is no news of a run that has ended.
          if (!state.run?.finishedAt || run.finishedAt) set({ run, isLoading: false, error: null });
          const { trigger, activeSpaceId } = run;
          const spaceId = ('spaceId' in trigger && trigger.spaceId) || activeSpaceId;
          if (spaceId && isOpen)
            unfollow ??= connection.follow({
              spaceId,
              lazy: true,
              afterSeq: () => Infinity,
              receive: () => {},
            });
        },
        (error, isLoading) => set({ error, isLoading }),
      );
    const releaseConnection = connection.retain();
    const stopHearing = connection.onFrame((frame) => {
      if (
        frame.type === 'run.step' &&
        frame.runId === runId &&
        frame.step.rev > (state.step?.rev ?? -1)
      ) {
        set({ step: frame.step });
        if (frame.step.finishedAt) load();
      } else if (
        frame.type === 'subscribed' ||
        ('run' in frame && frame.run.id === runId) ||
        // A remote agent has no steps here. What it posts is the news of its run.
        (frame.type === 'message.created' && frame.message.runId === runId && state.run?.remote)
      )
        load();
    });
    load();
    return () => {
      isOpen = false;
      timers.stop();
      stopHearing();
      unfollow?.();
      releaseConnection();
    };
  });

  const store = createStore<RunState>(() => state, retain);
  return store;
}
