// The button that starts another run with the same trigger.

import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useNotify, wordsOf } from '../ui/notices.tsx';

export function RetryButton({ runId }: { runId: string }): JSX.Element {
  const client = useClient();
  const notify = useNotify();
  const [isRetried, setIsRetried] = useState(false);
  const retry = () => {
    setIsRetried(true);
    client.runs.retry(runId).catch((error) => {
      setIsRetried(false);
      notify(wordsOf(error));
    });
  };
  return (
    <button type="button" class="quiet" disabled={isRetried} onClick={retry}>
      {isRetried ? 'Retried' : 'Retry'}
    </button>
  );
}
