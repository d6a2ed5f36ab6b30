// The person's choices, stored in this browser. If storage is refused, nothing is remembered.

/** The value stored under `name`, or null. */
export function preference(name: string): string | null {
  try {
    return localStorage.getItem(`smartspace.${name}`);
  } catch {
    return null;
  }
}

/** Stores a value under `name`. */
export function setPreference(name: string, value: string): void {
  try {
    localStorage.setItem(`smartspace.${name}`, value);
  } catch {
    // Storage is refused in some private windows and when it is full.
  }
}
