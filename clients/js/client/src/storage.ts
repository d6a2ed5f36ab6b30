// The storage of the platform, without its errors: it may be missing, full, or refused, as in some
// private windows. Then what should survive a reload is lost with the page.

import type { Environment } from './environment.ts';

type PlatformStorage = NonNullable<Environment['storage']>;

/** A storage whose methods never throw. */
export interface SafeStorage {
  /** Null if there is nothing, or if it can't be read. */
  get(name: string): string | null;
  set(name: string, value: string): void;
  remove(name: string): void;
  /** The names that begin so. */
  names(prefix: string): string[];
}

/** The storage of the platform as one that never throws. */
export function safeStorage({ storage }: Environment): SafeStorage {
  const withStorage = <T>(act: (storage: PlatformStorage) => T, otherwise: T): T => {
    try {
      return storage ? act(storage) : otherwise;
    } catch {
      return otherwise;
    }
  };
  return {
    get: (name) => withStorage((given) => given.getItem(name), null),
    set: (name, value) => withStorage((given) => given.setItem(name, value), undefined),
    remove: (name) => withStorage((given) => given.removeItem(name), undefined),
    names: (prefix) =>
      withStorage(
        (given) =>
          Array.from({ length: given.length }, (_, at) => given.key(at) ?? '').filter((name) =>
            name.startsWith(prefix),
          ),
        [],
      ),
  };
}
