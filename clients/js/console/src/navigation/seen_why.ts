// Whether the person has seen why an agent spoke or not, in this browser.

import { preference, setPreference } from '../ui/preferences.ts';
import { sharedValue } from '../ui/shared_value.ts';

const NAME = 'seen-why';

const isSeen = sharedValue(preference(NAME) !== null);

export function markWhySeen(): void {
  if (isSeen.get()) return;
  setPreference(NAME, '1');
  isSeen.set(true);
}

export const useHasSeenWhy = (): boolean => isSeen.use();
