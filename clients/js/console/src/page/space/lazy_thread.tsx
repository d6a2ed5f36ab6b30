// The drawer with a thread, once its script is loaded.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ThreadProps } from '../../studio/messages/thread.tsx';
import { useNotify } from '../../ui/notices.tsx';
import { FAILED, useStudio } from '../scripts.ts';

export function LazyThread(props: ThreadProps): JSX.Element | null {
  const { script: studio, hasFailed } = useStudio();
  const notify = useNotify();
  useEffect(() => {
    if (hasFailed) notify(FAILED);
  }, [hasFailed]);
  return studio && <studio.Thread {...props} />;
}
