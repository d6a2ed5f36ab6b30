// The typed values of open forms. They outlive the forms: a switch to another space unmounts these.

import type { Typed } from '../schema/field_types.ts';

export interface Draft {
  input: Typed;
  declining: { reason: string; isOpen: boolean };
}

/** The drafts by call id. */
export const drafts = new Map<string, Draft>();

/** Forgets all drafts. Call it when the caller signs out. */
export const clearDrafts = (): void => drafts.clear();
