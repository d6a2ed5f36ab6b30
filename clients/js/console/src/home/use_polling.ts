// Loads what pages of the operator show again and again.

import { useClient } from '@smartspace/react';
import { useEffect } from 'preact/hooks';
import { useActivity } from '../studio/data/activity.ts';

/**
 * Calls `load` now, after events in the spaces, and every `everyMs` milliseconds while the page is
 * visible, because not all that changes has an event.
 */
export function usePolling(load: () => void, everyMs: number, afterEvents = load): void {
  const client = useClient();
  useActivity(afterEvents);
  useEffect(() => {
    load();
    const timer = setInterval(() => document.hidden || load(), everyMs);
    return () => clearInterval(timer);
  }, [client, everyMs]);
}
