// How much the window has room for.

import { useEffect, useState } from 'preact/hooks';

// As in layout.css.
const SIDEBAR = '(min-width: 44.01rem)';
const DRAWER = '(min-width: 60.01rem)';

/** Whether the window shows the sidebar and the page side by side. */
export const useIsWide = (): boolean => useMatches(SIDEBAR);

/** Whether the window shows the drawer beside the page. If not, the drawer covers the page. */
export const useHasRoomForDrawer = (): boolean => useMatches(DRAWER);

function useMatches(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const changed = () => setMatches(list.matches);
    list.addEventListener('change', changed);
    return () => list.removeEventListener('change', changed);
  }, [query]);
  return matches;
}
