// The text that a person has not sent yet.

import type { Environment } from './environment.ts';

export interface Draft {
  get(): string;
  set(text: string): void;
}

/** A draft that survives a reload. `name` is its place in the storage, once the caller is known. */
export function createDraft(env: Environment, name: () => string | null): Draft {
  let draft: string | undefined;
  // Storage is refused in some private windows, and it may be full.
  const withStorage = (act: (storage: NonNullable<Environment['storage']>, at: string) => void) => {
    const at = name();
    try {
      if (env.storage && at) act(env.storage, at);
    } catch {
      // The draft is lost with the page only.
    }
  };
  return {
    get() {
      if (draft === undefined) withStorage((storage, at) => (draft = storage.getItem(at) ?? ''));
      return draft ?? '';
    },
    set(text) {
      draft = text;
      withStorage((storage, at) => (text ? storage.setItem(at, text) : storage.removeItem(at)));
    },
  };
}
