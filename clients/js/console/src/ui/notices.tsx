// The line at the top of a page that shows an error.

import { createContext, type JSX } from 'preact';
import { useContext } from 'preact/hooks';

/** Shows a text at the top of the page; '' removes it. */
export type Notify = (text: string) => void;

export const NoticeContext = createContext<Notify>(() => {});

/** The text that is shown, or ''. */
export const NoticeTextContext = createContext('');

/** The text that is shown, or ''. */
export const useNotice = (): string => useContext(NoticeTextContext);

/** The function that shows a notice. */
export const useNotify = (): Notify => useContext(NoticeContext);

/** The line. A screen reader reads a text that appears in it. */
export const NoticeLine = ({ text }: { text: string }): JSX.Element => (
  <p id="notice" class="notice problem" role="alert">
    {text}
  </p>
);

/** The text of an error. */
export const wordsOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
