// The admin key of this tab. It is in sessionStorage only, never in the address or the page, and is
// removed when the tab is closed.

const KEY = 'smartspace.key';

/**
 * Moves a key from the address's fragment into the session and removes it from the address and the
 * history. Returns whether there was one.
 */
export function takeKeyFromAddress() {
  const found = /^#key=(.*)$/.exec(location.hash);
  if (!found) return false;
  history.replaceState(history.state, '', location.pathname + location.search);
  keepKey(decoded(found[1]));
  return true;
}

/** The key, or null. */
export const storedKey = () => sessionStorage.getItem(KEY);

/** Stores a key for this tab. */
export const keepKey = (key) => sessionStorage.setItem(KEY, key);

/** Removes the key. */
export const forgetKey = () => sessionStorage.removeItem(KEY);

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
