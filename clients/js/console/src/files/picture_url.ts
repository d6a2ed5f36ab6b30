// The address from which a picture is shown.

import { useFileUrl } from '@smartspace/react';
import { useRef, useState } from 'preact/hooks';

const BROKEN = new Error('This picture could not be loaded.');
const MOST_FAILURES = 2;
// Two addresses of the same second may be the same.
const RENEW_AFTER_MS = 1000;

/** The properties of an `<img>`. `error` says why there is no picture. */
interface PictureUrl {
  src: string | null;
  error: Error | null;
  onError: () => void;
}

/**
 * The address of a picture. It stays the same while the picture can be loaded from it, so that the
 * browser loads the picture once. Null as the id: not yet.
 */
export function usePictureUrl(attachmentId: string | null): PictureUrl {
  const { url, error, renew } = useFileUrl(attachmentId);
  const [failed, setFailed] = useState<readonly (string | null)[]>([]);
  const src = useRef<string | null>(null);
  if (src.current === null || failed.includes(src.current))
    src.current = failed.includes(url) ? null : url;
  return {
    src: src.current,
    error: error ?? (failed.length < MOST_FAILURES ? null : BROKEN),
    onError() {
      setFailed([...failed, src.current]);
      // The address may have ended while the computer slept.
      setTimeout(renew, RENEW_AFTER_MS);
    },
  };
}
