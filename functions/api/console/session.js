// The admin key of this tab. It lives in sessionStorage only: not in the address, not in the page, gone with the tab.

const KEY = 'smartspace.key';

/** Takes a key out of the address's fragment, if there is one, and removes it from the address and its history entry. */
export function takeKeyFromAddress() {
  const found = /^#key=(.*)$/.exec(location.hash);
  if (!found) return false;
  history.replaceState(history.state, '', location.pathname + location.search);
  keepKey(decoded(found[1]));
  return true;
}

/** The key, or null. */
export const storedKey = () => sessionStorage.getItem(KEY);

/** Keeps a key for this tab. */
export const keepKey = (key) => sessionStorage.setItem(KEY, key);

/** Forgets it. */
export const forgetKey = () => sessionStorage.removeItem(KEY);

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
