// A value that parts of the page share, and that they follow.

import { useEffect, useState } from 'preact/hooks';

export interface SharedValue<T> {
  get: () => T;
  set: (value: T) => void;
  /** The value, kept up to date. */
  use: () => T;
}

export function sharedValue<T>(initial: T): SharedValue<T> {
  const listeners = new Set<() => void>();
  let current = initial;
  return {
    get: () => current,
    set(value) {
      current = value;
      for (const listener of listeners) listener();
    },
    use() {
      const [value, setValue] = useState(() => current);
      useEffect(() => {
        // The value may be a function.
        const follow = () => setValue(() => current);
        follow();
        listeners.add(follow);
        return () => void listeners.delete(follow);
      }, []);
      return value;
    },
  };
}
