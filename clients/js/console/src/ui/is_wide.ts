// Whether the window is wide enough for two things beside each other.

import { useEffect, useState } from 'preact/hooks';

// As in layout.css.
const SIDE = '(min-width: 44.01rem)';
const DRAWER = '(min-width: 60.01rem)';

/** Whether the side is beside the page. */
export const useIsWide = (): boolean => useMatches(SIDE);

/** Whether the drawer is beside the page. Otherwise it is a page of its own. */
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
