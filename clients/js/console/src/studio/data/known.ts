// The names that a list has, for a form that adds to it.

import { useCallback, useEffect, useRef } from 'preact/hooks';

/** The names in a list, for a form that must not overwrite any of it. */
export interface Known {
  taken: readonly string[];
  error: Error | null;
}

/** Returns the names in a list as soon as it is loaded. */
export function useKnown(known: Known, isLoading: boolean): () => Promise<Known> {
  const latest = useRef({ known, isLoading });
  latest.current = { known, isLoading };
  const waiting = useRef<(() => void)[]>([]);
  useEffect(() => {
    if (!isLoading) waiting.current.splice(0).forEach((go) => go());
  }, [isLoading]);
  return useCallback(async () => {
    while (latest.current.isLoading) await new Promise<void>((go) => waiting.current.push(go));
    return latest.current.known;
  }, []);
}
