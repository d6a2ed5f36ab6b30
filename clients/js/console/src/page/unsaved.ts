// Text that was typed and is not saved. Nobody leaves it without being asked.

import { useEffect, useRef } from 'preact/hooks';

const QUESTION = 'Leave without saving? What you typed is lost.';
const guards = new Set<() => boolean>();

/** Whether the page may be left: nothing is unsaved, or the person gives it up. */
export function mayLeave(): boolean {
  if (![...guards].some((isUnsaved) => isUnsaved())) return true;
  if (!confirm(QUESTION)) return false;
  // Nobody is asked twice.
  guards.clear();
  return true;
}

/** Gives up all that is unsaved. */
export const giveUp = (): void => guards.clear();

/** Asks before the page is left while `isUnsaved`. */
export function useUnsaved(isUnsaved: () => boolean): void {
  const latest = useRef(isUnsaved);
  latest.current = isUnsaved;
  useEffect(() => {
    const guard = () => latest.current();
    const hold = (event: BeforeUnloadEvent) => {
      if (guards.has(guard) && guard()) event.preventDefault();
    };
    guards.add(guard);
    addEventListener('beforeunload', hold);
    return () => {
      guards.delete(guard);
      removeEventListener('beforeunload', hold);
    };
  }, []);
}
