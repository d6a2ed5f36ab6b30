// The line about the files that manage an agent, a space or a plan.

import type { Schemas } from '@smartspace/client';
import type { ComponentChildren, JSX } from 'preact';
import { fileWords } from './managed_words.ts';

export interface ManagedByProps {
  /** Absent if no file manages the object. */
  managedBy: Schemas['ManagedBy'] | null | undefined;
  /** What a change on this page means. */
  children?: ComponentChildren;
}

export const ManagedBy = ({ managedBy, children }: ManagedByProps): JSX.Element | null =>
  managedBy ? (
    <p class="note managed">
      <span title={managedBy.commit ?? undefined}>
        {`Managed by files: ${fileWords(managedBy)}`}
      </span>
      {children ? <>. {children}</> : null}
    </p>
  ) : null;
