// The message that triggered a run of a list. A list has no texts, so each row loads its message.

import type { Message, Run } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import { useEffect, useState } from 'preact/hooks';
import { spacePath } from '../../api/paths.ts';

/** The message, or null: until it is loaded, and if the run has moved on to another space. */
export function useTriggerMessage({ trigger, activeSpaceId }: Run): Message | null {
  const client = useClient();
  const [message, setMessage] = useState<Message | null>(null);
  const seq = 'seq' in trigger ? trigger.seq : null;
  const messageId = 'messageId' in trigger ? trigger.messageId : null;
  useEffect(() => {
    if (seq === null || !activeSpaceId || message?.id === messageId) return undefined;
    const stop = new AbortController();
    const path = `${spacePath(activeSpaceId, 'messages')}?after=${seq - 1}&limit=1`;
    client
      .request<{ items: Message[] }>('GET', path, { signal: stop.signal, retry: true })
      .then(({ items: [found] }) => found?.id === messageId && setMessage(found))
      .catch(() => {}); // The space may be deleted. The row says the number of the message.
    return () => stop.abort();
  }, [client, activeSpaceId, seq, messageId, message]);
  return message?.id === messageId ? message : null;
}
