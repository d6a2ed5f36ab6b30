// The state of a message that the server has not stored yet.

import type { PendingSend, SmartspaceError, Space } from '@smartspace/client';
import type { JSX } from 'preact';

export interface PendingNoteProps {
  space: Space;
  send: PendingSend;
}

/** The line below a message on its way. A refused message can be sent again or discarded. */
export function PendingNote({ space, send }: PendingNoteProps): JSX.Element {
  const { key, state, error } = send;
  if (state !== 'failed') {
    const text = state === 'sending' ? 'sending' : 'waiting to be sent';
    return <p class="note">{text}</p>;
  }
  return (
    <div class="refused">
      <p class="problem" role="alert">
        {reasonOf(error)}
      </p>
      <div class="refused-row">
        <button type="button" onClick={() => space.resend(key)}>
          Send again
        </button>
        <button type="button" class="quiet" onClick={() => space.discard(key)}>
          Discard
        </button>
      </div>
    </div>
  );
}

// After a reload an error is a plain object.
const reasonOf = (error: Error | undefined) =>
  error?.message || (error as SmartspaceError | undefined)?.detail || 'This message was not sent.';
