// The caller as a store. The client offers it as a promise.

import type { Caller, Client, SmartspaceError, Store } from '@smartspace/client';
import { useClientFor } from './context.ts';
import { LOADING, useStore } from './store.ts';

/** The owner of the client's token. */
export interface MeState {
  /** Null until it is loaded. Its `entity` is null for the operator. */
  me: Caller | null;
  isLoading: boolean;
  error: Error | null;
}

const RETRY_MS = 5000;
const NOBODY: MeState = { me: null, ...LOADING };
const stores = new WeakMap<Client, Store<MeState>>();

/**
 * Returns who the caller is. It changes once, when that is loaded. After a failure it changes to
 * the error. It asks again when the connection is live, and while it stays live every five seconds,
 * unless the server refused the caller.
 */
export function useMe(): MeState {
  const client = useClientFor('useMe');
  const store = stores.get(client) ?? createMe(client);
  stores.set(client, store);
  return useStore(store, NOBODY);
}

function createMe(client: Client): Store<MeState> {
  const listeners = new Set<() => void>();
  let state = NOBODY;
  let leave: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function set(after: MeState) {
    state = after;
    listeners.forEach((listener) => listener());
  }

  function stopWaiting() {
    clearTimeout(timer);
    leave?.();
    leave = undefined;
  }

  function ask() {
    client.me().then(
      (me) => {
        stopWaiting();
        if (me !== state.me) set({ me, isLoading: false, error: null });
      },
      (error) => {
        set({ me: null, isLoading: false, error });
        if (listeners.size === 0) return;
        leave ??= client.connection.subscribe(askIfLive);
        clearTimeout(timer);
        if ((error as SmartspaceError).isTemporary) timer = setTimeout(askIfLive, RETRY_MS);
      },
    );
  }

  function askIfLive() {
    if (client.connection.getSnapshot().state === 'live') ask();
  }

  return {
    subscribe(given) {
      const listener = () => given();
      listeners.add(listener);
      if (!state.me) ask();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) stopWaiting();
      };
    },
    getSnapshot: () => state,
  };
}
