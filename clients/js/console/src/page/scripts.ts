// Loads the scripts of the pages that not everybody opens, when the first of them is opened.

import { useEffect, useState } from 'preact/hooks';

/** A script with further pages can't be loaded. */
export const FAILED =
  'This page was not loaded: there is no network, or the server has a newer version. Reload it.';

/** The pages for operators and owners, null until they are loaded, and whether that has failed. */
export const useStudio = scriptHook(() => import('../studio/studio.tsx'));

/** What searches messages, and the parts of a talk that somebody asks for, in the same way. */
export const useLater = scriptHook(() => import('../later.tsx'));

function scriptHook<T extends object>(load: () => Promise<T>) {
  let loaded: T | null = null;
  return (): { script: T | null; hasFailed: boolean } => {
    const [script, setScript] = useState(loaded);
    const [hasFailed, setHasFailed] = useState(false);
    useEffect(() => {
      if (script) return;
      load().then(
        (pages) => setScript((loaded = pages)),
        () => setHasFailed(true),
      );
    }, []);
    return { script, hasFailed };
  };
}
