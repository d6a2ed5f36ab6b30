// What this browser remembers of what one chose. A convenience: where storage is refused, nothing is remembered.

/** What was chosen under `name`, or null. */
export function chosen(name) {
  try {
    return localStorage.getItem(`smartspace.${name}`);
  } catch {
    return null;
  }
}

/** Remembers a choice. */
export function choose(name, value) {
  try {
    localStorage.setItem(`smartspace.${name}`, value);
  } catch {
    // Private windows and full disks.
  }
}
