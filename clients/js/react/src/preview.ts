// Whom a text would wake, asked while a person types it.

import type { Dispatch, PreviewOptions, Space } from '@smartspace/client';
import { useEffect, useMemo, useState } from 'react';
import { useSpaceFor } from './context.ts';
import { NONE } from './store.ts';

const DELAY_MS = 300;

/** Whom a text would wake. */
export interface PreviewState {
  /** A decision for each agent. While `isLoading` it is that of an earlier text. */
  dispatch: readonly Dispatch[];
  isLoading: boolean;
  error: Error | null;
}

interface Answer extends Omit<PreviewState, 'isLoading'> {
  /** What was asked. It is another object for each text. */
  question: {
    space: Space;
    text: string;
    senderId: string | undefined;
    replyTo: number | undefined;
  };
}

/**
 * Returns which agents a text would wake, and why not the others. It posts nothing. It asks when
 * the text has not changed for 0.3 s, and cancels the call when the text changes again. It changes
 * with the text and with the answer. An empty text is not asked. The operator names the sender.
 */
export function usePreview(text: string, options?: PreviewOptions): PreviewState;
export function usePreview(
  id: string | undefined,
  text: string,
  options?: PreviewOptions,
): PreviewState;
export function usePreview(
  first: string | undefined,
  second?: string | PreviewOptions,
  third?: PreviewOptions,
): PreviewState {
  const [id, text, options] =
    typeof second === 'string' ? [first, second, third] : [undefined, first ?? '', second];
  const { senderId, replyTo } = options ?? {};
  const space = useSpaceFor('usePreview', id);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const isEmpty = text.trim() === '';
  const question = useMemo(
    () => ({ space, text, senderId, replyTo }),
    [space, text, senderId, replyTo],
  );

  useEffect(() => {
    if (isEmpty) return;
    const cancellation = new AbortController();
    const { signal } = cancellation;
    const put = (dispatch: readonly Dispatch[], error: Error | null) => {
      if (!signal.aborted) setAnswer({ question, dispatch, error });
    };
    const timer = setTimeout(() => {
      space.preview(text, { signal, replyTo, ...(senderId && { senderId }) }).then(
        (dispatch) => put(dispatch, null),
        (error) => put(NONE, error),
      );
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      cancellation.abort();
    };
  }, [question]);

  const shown = isEmpty || answer?.question.space !== space ? null : answer;
  const isLoading = !isEmpty && shown?.question !== question;
  return useMemo(
    () => ({
      dispatch: shown?.dispatch ?? NONE,
      isLoading,
      error: isLoading ? null : (shown?.error ?? null),
    }),
    [shown, isLoading],
  );
}
