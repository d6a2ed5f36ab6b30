// Text that was typed and is not saved. The page asks before it is lost.

import { useEffect, useRef } from 'preact/hooks';

const QUESTION = 'Leave without saving? What you typed is lost.';

interface Guard {
  isUnsaved: () => boolean;
  /** The element with the text. */
  place: () => Element | null;
  /** The person has given up the text. */
  isGivenUp: boolean;
}

const guards = new Set<Guard>();

/**
 * Whether this part of the page, or all of it, may be left: nothing in it is unsaved, or the person
 * gives it up.
 */
export function mayLeave(part: Element = document.body): boolean {
  const inside = [...guards].filter(({ place }) => part.contains(place()));
  if (!inside.some(holds)) return true;
  if (!confirm(QUESTION)) return false;
  // Later guards do not ask again.
  for (const guard of inside) guard.isGivenUp = true;
  return true;
}

/** Gives up all unsaved text. */
export function giveUp(): void {
  for (const guard of guards) guard.isGivenUp = true;
}

/**
 * Asks before the text in `place` is left while `isUnsaved`. Call the result when more is typed.
 */
export function useUnsaved(place: () => Element | null, isUnsaved: () => boolean): () => void {
  const guard = useRef<Guard>({ place, isUnsaved, isGivenUp: false }).current;
  guard.place = place;
  guard.isUnsaved = isUnsaved;
  useEffect(() => {
    const hold = (event: BeforeUnloadEvent) => {
      if (holds(guard)) event.preventDefault();
    };
    guards.add(guard);
    addEventListener('beforeunload', hold);
    return () => {
      guards.delete(guard);
      removeEventListener('beforeunload', hold);
    };
  }, []);
  return () => {
    guard.isGivenUp = false;
  };
}

const holds = (guard: Guard) => !guard.isGivenUp && guard.isUnsaved();
