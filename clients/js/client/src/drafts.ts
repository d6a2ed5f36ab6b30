// The text that a person has not sent yet.

import type { Kept } from './kept.ts';

export interface Draft {
  get(): string;
  set(text: string): void;
}

/** A draft that survives a reload. `name` is its place in the storage, once the caller is known. */
export function createDraft(kept: Kept, name: () => string | null): Draft {
  let draft: string | undefined;
  return {
    get() {
      const at = name();
      if (draft === undefined && at !== null) draft = kept.get(at) ?? '';
      return draft ?? '';
    },
    set(text) {
      draft = text;
      const at = name();
      if (at === null) return;
      if (text) kept.set(at, text);
      else kept.remove(at);
    },
  };
}
