// The button that ends all runs of a space and pauses it.

import type { Space } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { ComponentChildren, JSX } from 'preact';
import { ActionButton } from '../studio/frame/action_button.tsx';

interface StopSpaceProps {
  spaceId: string;
  children: ComponentChildren;
}

/** Nothing, if the client can't do it. */
export function StopSpace({ spaceId, children }: StopSpaceProps): JSX.Element | null {
  const space = useClient().space(spaceId) as Space & { stop?: () => Promise<unknown> };
  if (!space.stop) return null;
  return (
    <ActionButton class="problem" act={async () => space.stop?.()}>
      {children}
    </ActionButton>
  );
}
