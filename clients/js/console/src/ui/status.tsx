// The state of the connection, as a word and a dot.

import type { ConnectionState } from '@smartspace/client';
import { useConnection } from '@smartspace/react';
import type { JSX } from 'preact';

const STATUS: Record<ConnectionState['state'], string> = {
  connecting: 'Connecting',
  live: 'Live',
  stalled: 'Reconnecting',
  offline: 'Offline',
  closed: 'Disconnected',
};

/** The state. It is true within three seconds. */
export function Status({ id }: { id?: string }): JSX.Element {
  const { state } = useConnection();
  return (
    <span id={id} class="status" role="status" data-status={state}>
      {STATUS[state]}
    </span>
  );
}
