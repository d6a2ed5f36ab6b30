// The key or token of this tab, and the client that uses it. It is in sessionStorage only, never in
// the address or the page, and is removed when the tab is closed.

import { createClient, type Client } from '@smartspace/client';

const NAME = 'smartspace.key';
const INVITE = 'smartspace.invite';
let replaced: string | null = null;

/** Why the page shows the sign-in form again. */
export const REFUSED = 'The server does not accept this key or token, or it has expired.';

// Otherwise anyone's link could sign the reader in as its author, who then reads what is written.
const QUESTION =
  'This link signs this tab in with another key or token. What you write afterwards is sent in ' +
  'the name of its owner. Sign in with it?';

/**
 * Moves a key or token from the address's fragment into the session and removes it from the address
 * and the history. A tab that is signed in with another one asks before. Returns whether the key of
 * the tab has changed.
 */
export function takeKeyFromAddress(): boolean {
  const key = /^#(?:key|token)=(.*)$/.exec(location.hash)?.[1];
  if (key === undefined) return false;
  history.replaceState(history.state, '', location.pathname + location.search);
  const [before, given] = [storedKey(), decoded(key)];
  if (before !== null && before !== given && !confirm(QUESTION)) return false;
  replaced ??= before;
  storeKey(given);
  return true;
}

/**
 * Moves the token of an invite from the address's fragment into the session, like a key. It stays
 * there until the reader has joined or declined, because signing in reloads the page.
 */
export function takeInviteFromAddress(): boolean {
  const token = /^#invite=(.*)$/.exec(location.hash)?.[1];
  if (token === undefined) return false;
  history.replaceState(history.state, '', location.pathname + location.search);
  sessionStorage.setItem(INVITE, decoded(token));
  return true;
}

/** The token of the invite that the reader has opened, or null. */
export const storedInvite = (): string | null => sessionStorage.getItem(INVITE);

/** Removes the token of the invite. */
export const forgetInvite = (): void => sessionStorage.removeItem(INVITE);

/** The key, or null. */
export const storedKey = (): string | null => sessionStorage.getItem(NAME);

/** Stores a key for this tab. */
export const storeKey = (key: string): void => sessionStorage.setItem(NAME, key);

/** The key that the address has replaced by one that was not accepted yet, or null. */
export const replacedKey = (): string | null => replaced;

/** The present key was accepted. */
export const forgetReplaced = (): void => void (replaced = null);

/** Removes the key. */
export const forgetKey = (): void => sessionStorage.removeItem(NAME);

/** Whether an HTTP header can hold this key. One with other characters is always wrong. */
export const isSendable = (key: string): boolean => /^[\x21-\x7e]+$/.test(key);

/** A client with this key. `onRefused` is called when the server does not accept it. */
export function clientWith(key: string, onRefused: () => void): Client {
  let isGiven = false;
  const token = () => {
    // The client asks again only after the server has refused the key.
    if (isGiven) onRefused();
    else setTimeout(() => (isGiven = true));
    return key;
  };
  return createClient({ url: '', token });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
