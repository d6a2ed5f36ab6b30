// The person's choices, stored in this browser. If storage is refused, nothing is remembered.

/** The value stored under `name`, or null. */
export const preference = (name: string): string | null => read('localStorage', name);

/** Stores a value under `name`. */
export const setPreference = (name: string, value: string): void =>
  write('localStorage', name, value);

/** The value that this tab stores under `name`, or null. */
export const tabPreference = (name: string): string | null => read('sessionStorage', name);

/** Stores a value under `name`, until the tab is closed. */
export const setTabPreference = (name: string, value: string): void =>
  write('sessionStorage', name, value);

type StorageName = 'localStorage' | 'sessionStorage';

function read(storage: StorageName, name: string) {
  try {
    return globalThis[storage].getItem(`smartspace.${name}`);
  } catch {
    return null;
  }
}

function write(storage: StorageName, name: string, value: string) {
  try {
    globalThis[storage].setItem(`smartspace.${name}`, value);
  } catch {
    // Storage is refused in some private windows and when it is full.
  }
}
