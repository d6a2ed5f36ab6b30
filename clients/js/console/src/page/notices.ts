// The line above the timeline that says what failed.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** Shows a text above the timeline; '' removes it. */
export type Notify = (text: string) => void;

export const NoticeContext = createContext<Notify>(() => {});

/** The function that shows a notice. */
export const useNotify = (): Notify => useContext(NoticeContext);

/** What went wrong, in words. */
export const wordsOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
