// A store of the client as the state of a component.

import type { Store } from '@smartspace/client';
import { useSyncExternalStore } from 'react';

/**
 * The snapshot of a store. `initial` is the snapshot of a store that has loaded nothing. A server
 * renders it, and so does the browser while it hydrates the server's page. The store itself may
 * have loaded something by then, which would not match the page.
 */
export const useStore = <T>({ subscribe, getSnapshot }: Store<T>, initial: T): T =>
  useSyncExternalStore(subscribe, getSnapshot, () => initial);

/** What every store holds while it loads. */
export const LOADING = { isLoading: true, error: null } as const;

/** An empty list that is always the same object. */
export const NONE: readonly never[] = [];
