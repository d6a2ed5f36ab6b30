// Whether the window is wide enough for the side and a page beside each other.

import { useEffect, useState } from 'preact/hooks';

// As in layout.css.
const wide = globalThis.matchMedia?.('(min-width: 44.01rem)');

/** Whether the side is beside the page. */
export function useIsWide(): boolean {
  const [isWide, setIsWide] = useState(wide?.matches ?? true);
  useEffect(() => {
    const changed = () => setIsWide(wide.matches);
    wide.addEventListener('change', changed);
    return () => wide.removeEventListener('change', changed);
  }, []);
  return isWide;
}
