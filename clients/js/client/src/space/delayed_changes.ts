// The changes that are made after a delay, by their names. An effect names one, so that it is data.

import type { Change, DelayedName } from './effects.ts';
import { expirePresence } from './frame_changes.ts';
import { forgetEnded } from './loading.ts';
import { checkGap, checkSilence } from './stream_lifetime.ts';

export const DELAYED_CHANGES: Readonly<Record<DelayedName, Change<[id: string]>>> = {
  checkGap,
  checkSilence,
  expirePresence,
  forgetEnded,
};
