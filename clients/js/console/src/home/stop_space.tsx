// The buttons that end all runs of a space and pause it.

import type { Client, SpaceInfo } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { ComponentChildren, JSX } from 'preact';
import { spacePath } from '../api/paths.ts';
import { ActionButton } from '../studio/frame/action_button.tsx';
import { focusMessageBox } from '../ui/message_box.ts';
import { isolated } from '../ui/visible.ts';

interface StopSpaceProps {
  spaceId: string;
  children: ComponentChildren;
}

export function StopSpace({ spaceId, children }: StopSpaceProps): JSX.Element {
  const client = useClient();
  const stop = async () => {
    await client.stopSpace(spaceId);
    // The list may not follow the space.
    await client.reloadSpaces();
  };
  return (
    <ActionButton class="problem" act={stop}>
      {children}
    </ActionButton>
  );
}

interface StopRoomProps {
  space: SpaceInfo;
  /** Owners and the operator may. */
  mayResume: boolean;
}

/** The button in the head of a space: it stops all, or resumes a paused space. */
export function StopRoom({ space, mayResume }: StopRoomProps): JSX.Element | null {
  const client = useClient();
  const { id, name, paused } = space;
  // The button is another one then.
  const act = (doing: Promise<unknown>) => doing.then(focusMessageBox);
  if (paused)
    return mayResume ? (
      <ActionButton class="primary resume" act={() => act(resume(client, id))}>
        Resume
      </ActionButton>
    ) : null;
  return (
    <ActionButton
      class="danger stop-room"
      label="Stop all and pause"
      confirm={
        `Stop all agents in ${isolated(name)} and pause it? ` +
        'No agent is asked until somebody resumes it.'
      }
      act={() => act(client.stopSpace(id))}
    >
      Stop all<span> and pause</span>
    </ActionButton>
  );
}

const resume = (client: Client, spaceId: string) =>
  client.request('PATCH', spacePath(spaceId), { body: { paused: false }, retry: true });
