// Whether the person has seen why an agent spoke or not, in this browser.

import { useEffect, useState } from 'preact/hooks';
import { preference, setPreference } from '../ui/preferences.ts';

const NAME = 'seen-why';

const listeners = new Set<() => void>();
let isSeen = preference(NAME) !== null;

export function markWhySeen(): void {
  if (isSeen) return;
  isSeen = true;
  setPreference(NAME, '1');
  for (const listener of listeners) listener();
}

export function useHasSeenWhy(): boolean {
  const [hasSeen, setHasSeen] = useState(isSeen);
  useEffect(() => {
    const seen = () => setHasSeen(true);
    if (isSeen) seen();
    listeners.add(seen);
    return () => void listeners.delete(seen);
  }, []);
  return hasSeen;
}
