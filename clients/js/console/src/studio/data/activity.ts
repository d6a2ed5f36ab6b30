// Loads the data of a page again after events in the spaces.

import { useClient } from '@smartspace/react';
import { useEffect, useRef } from 'preact/hooks';

const RELOAD_MS = 1000; // Between two loads that follow events.

/** Calls `reload` after events in any space, at most once a second. */
export function useActivity(reload: () => void): void {
  const client = useClient();
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const changed = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        latest.current();
      }, RELOAD_MS);
    };
    const leave = client.spaces.subscribe(changed);
    return () => {
      clearTimeout(timer);
      leave();
    };
  }, [client]);
}
