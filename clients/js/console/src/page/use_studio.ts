// Loads the script with the pages of the studio when the first of them is opened.

import { useEffect, useState } from 'preact/hooks';

type Studio = typeof import('../studio/studio.tsx');

let loaded: Studio | null = null;

/** The pages, null until they are loaded, and whether that has failed. */
export function useStudio(): { studio: Studio | null; hasFailed: boolean } {
  const [studio, setStudio] = useState(loaded);
  const [hasFailed, setHasFailed] = useState(false);
  useEffect(() => {
    if (studio) return;
    import('../studio/studio.tsx').then(
      (pages) => setStudio((loaded = pages)),
      () => setHasFailed(true),
    );
  }, []);
  return { studio, hasFailed };
}
