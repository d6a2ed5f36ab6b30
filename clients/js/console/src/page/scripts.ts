// Loads the scripts of the pages that not everybody opens, when the first of them is opened.

import { scriptHook } from '../ui/script.ts';

export { FAILED } from '../ui/script.ts';

/** The pages for operators and owners, null until they are loaded, and whether that has failed. */
export const useStudio = scriptHook(() => import('../studio/studio.tsx'));

/** What searches messages, and the parts of a talk that somebody asks for, in the same way. */
export const useLater = scriptHook(() => import('../later.tsx'));

/** What waits for the caller and the first screen of a space, in the same way. */
export const useHomeScript = scriptHook(() => import('../home/home.tsx'));
