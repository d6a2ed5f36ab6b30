// Scripts that the page loads when it needs them.

import { useLayoutEffect, useState } from 'preact/hooks';

/** A script with further parts of the page can't be loaded. */
export const FAILED =
  'This page was not loaded: there is no network, or the server has a newer version. Reload it.';

// A browser without idle times waits this long, so that the first screen comes first.
const IDLE_MS = 500;

const preloaded = new Set<() => Promise<unknown>>();

export interface Script<T> {
  /** Null until it is loaded. */
  script: T | null;
  hasFailed: boolean;
}

interface Source<T> {
  loaded: T | null;
  load: () => Promise<T>;
}

function sourceOf<T extends object>(load: () => Promise<T>): Source<T> {
  const source: Source<T> = {
    loaded: null,
    load: () => load().then((parts) => (source.loaded = parts)),
  };
  return source;
}

function hookOf<T extends object>(source: Source<T>): () => Script<T> {
  return () => {
    const [script, setScript] = useState(source.loaded);
    const [hasFailed, setHasFailed] = useState(false);
    useLayoutEffect(() => {
      if (script) return;
      source.load().then(
        (parts) => setScript(parts),
        () => setHasFailed(true),
      );
    }, []);
    return { script, hasFailed };
  };
}

/** A hook that loads a script when the first component uses it. */
export const scriptHook = <T extends object>(load: () => Promise<T>): (() => Script<T>) =>
  hookOf(sourceOf(load));

/** The same for a script that `preloadScripts` loads earlier, so that nobody waits for it. */
export function preloadedHook<T extends object>(load: () => Promise<T>): () => Script<T> {
  const source = sourceOf(load);
  preloaded.add(source.load);
  return hookOf(source);
}

/** Loads scripts that a reader may need at once, when the page has nothing else to do. */
export function preloadScripts(): void {
  const start = () => {
    // A component that needs one says that it failed.
    for (const load of preloaded) load().catch(() => {});
    preloaded.clear();
  };
  if ('requestIdleCallback' in globalThis) requestIdleCallback(start, { timeout: IDLE_MS });
  else setTimeout(start, IDLE_MS);
}
