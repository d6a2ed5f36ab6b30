// Hooks for what is not part of one space.

import type { ConnectionState, RunState, SpacesState } from '@smartspace/client';
import { useSyncExternalStore } from 'react';
import { useClientFor } from './context.ts';
import { LOADING, NONE, useStore } from './store.ts';

// A server makes no connection. Its page shows what the browser will do first.
const NO_CONNECTION: ConnectionState = { state: 'connecting', since: 0 };
const NO_SPACES: SpacesState = { spaces: NONE, ...LOADING };
const NO_RUN: RunState = { run: null, step: null, ...LOADING };

/**
 * Returns the state of the connection. It changes when the connection is made or lost, and when the
 * next attempt is planned. On a server the state is `connecting` since 0.
 */
export const useConnection = (): ConnectionState =>
  useStore(useClientFor('useConnection').connection, NO_CONNECTION);

/**
 * Returns the spaces that the caller may read, the one with the latest message first. It changes
 * with each message in them, with the caller's read positions, and with their runs.
 */
export const useSpaces = (): SpacesState => useStore(useClientFor('useSpaces').spaces, NO_SPACES);

/** Returns the number of unread messages in all spaces. It changes only with this number. */
export function useUnread(): number {
  const { subscribe, getSnapshot } = useClientFor('useUnread').spaces;
  const count = () => getSnapshot().spaces.reduce((total, { unread }) => total + unread, 0);
  return useSyncExternalStore(subscribe, count, () => 0);
}

/**
 * Returns a run with the step that it works on. It changes with the status of the run and with each
 * step. Only the operator gets the run's `steps`.
 */
export const useRun = (id: string): RunState => useStore(useClientFor('useRun').run(id), NO_RUN);
