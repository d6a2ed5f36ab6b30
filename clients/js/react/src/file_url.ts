// The address of a file, which works for some minutes only.

import type { SmartspaceError, Space } from '@smartspace/client';
import { useEffect, useMemo, useReducer, useRef, useState } from 'react';
import { useSpaceFor } from './context.ts';

// Less than what the client leaves of an address before it asks for the next one.
const LOOK_MS = 30_000;

/** The address of a file. */
export interface FileUrl {
  /** For an `<img>` or a download; null until it is known. */
  url: string | null;
  isLoading: boolean;
  /** With the status 404 the file does not exist any longer. */
  error: Error | null;
  /** Asks for a new address, as when an `<img>` could not load this one. */
  renew: () => void;
}

interface Answer extends Pick<FileUrl, 'url' | 'error'> {
  space: Space;
  attachmentId: string;
}

/**
 * Returns the address of a file of a message. It changes when it is known, and to a new address
 * before it ends: after about 14 minutes. An `<img>` that keeps its first address does not load
 * twice. With `null` as the id nothing is asked.
 */
export function useFileUrl(attachmentId: string | null, spaceId?: string): FileUrl {
  const space = useSpaceFor('useFileUrl', spaceId);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [renewals, renew] = useReducer((count: number) => count + 1, 0);
  // A renewal concerns the file that was shown at the time, and no later one.
  const renewed = useRef(0);

  useEffect(() => {
    const isRenewal = renewals > renewed.current;
    renewed.current = renewals;
    if (attachmentId === null) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const put = (url: string | null, error: Error | null) =>
      setAnswer((before) => {
        const known = isFor(before, space, attachmentId) ? before : null;
        // A call that failed says nothing about an address that is known.
        if (known?.url && (known.url === url || isTemporary(error))) return known;
        return { space, attachmentId, url, error };
      });
    const look = async (isNew: boolean) => {
      let failure: Error | null = null;
      const url = await space.fileUrl(attachmentId, { renew: isNew }).catch((error) => {
        failure = error;
        return null;
      });
      if (isOver) return;
      put(url, failure);
      if (url || isTemporary(failure)) timer = setTimeout(() => look(false), LOOK_MS);
    };
    look(isRenewal);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [space, attachmentId, renewals]);

  const shown = attachmentId !== null && isFor(answer, space, attachmentId) ? answer : null;
  return useMemo(
    () => ({
      url: shown?.url ?? null,
      isLoading: attachmentId !== null && !shown,
      error: shown?.error ?? null,
      renew,
    }),
    [shown, attachmentId],
  );
}

const isTemporary = (error: Error | null) => !!(error as SmartspaceError | null)?.isTemporary;

const isFor = (answer: Answer | null, space: Space, attachmentId: string) =>
  answer?.space === space && answer.attachmentId === attachmentId;
