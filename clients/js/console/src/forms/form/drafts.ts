// What was typed into open forms. It outlives the forms, so it survives a switch to another space.

import type { Typed } from '../schema/field_types.ts';

/** The typed values of one form. */
export interface Draft {
  input: Typed;
  declining: { reason: string; isOpen: boolean };
}

/** The drafts by call id. */
export const drafts = new Map<string, Draft>();

/** Forgets all drafts. Call it when the caller signs out. */
export const clearDrafts = (): void => drafts.clear();
