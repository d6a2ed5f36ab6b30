// The person's choices, stored in this browser. If storage is refused, nothing is remembered.

/** The value stored under `name`, or null. */
export function preference(name) {
  try {
    return localStorage.getItem(`smartspace.${name}`);
  } catch {
    return null;
  }
}

export function setPreference(name, value) {
  try {
    localStorage.setItem(`smartspace.${name}`, value);
  } catch {
    // Storage is refused in some private windows and when it is full.
  }
}
