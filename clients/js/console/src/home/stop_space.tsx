// The buttons that end all runs of a space and pause it.

import type { SpaceInfo } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { ComponentChildren, JSX } from 'preact';
import { ActionButton } from '../studio/frame/action_button.tsx';
import { isolated } from '../ui/visible.ts';

interface StopSpaceProps {
  spaceId: string;
  children: ComponentChildren;
}

export function StopSpace({ spaceId, children }: StopSpaceProps): JSX.Element {
  const client = useClient();
  return (
    <ActionButton class="problem" act={() => client.stopSpace(spaceId)}>
      {children}
    </ActionButton>
  );
}

/** The button in the head of a space. A paused one has none. */
export function StopRoom({ space }: { space: SpaceInfo }): JSX.Element | null {
  const client = useClient();
  const { id, name, paused } = space;
  if (paused) return null;
  return (
    <ActionButton
      class="danger stop-room"
      label="Stop all and pause"
      confirm={
        `Stop all agents in ${isolated(name)} and pause it? ` +
        'No agent is asked until somebody resumes it in the settings.'
      }
      act={() => client.stopSpace(id)}
    >
      Stop all<span> and pause</span>
    </ActionButton>
  );
}
