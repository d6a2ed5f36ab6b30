// What the operator wants to send before a person is chosen. The menu below the message box asks
// for one, and the choice sends it.

import { useEffect, useState } from 'preact/hooks';

type Send = (senderId: string) => void;

/** The id of the menu. */
export const SENDER_MENU = 'sender';

const listeners = new Set<(wanted: Send | null) => void>();
let wanted: Send | null = null;

function put(next: Send | null) {
  wanted = next;
  for (const listener of listeners) listener(next);
}

/** Opens the menu, and calls `send` with the person who is chosen there. */
export function askForSender(send: Send): void {
  const menu = document.getElementById(SENDER_MENU);
  if (!(menu instanceof HTMLSelectElement)) return;
  menu.focus();
  put(send);
  try {
    menu.showPicker();
  } catch {
    // An older browser can't. The menu has the focus, and says what it is for.
  }
}

/** Sends what waits for a person. */
export function answerWith(senderId: string): void {
  const send = wanted;
  put(null);
  send?.(senderId);
}

/** Gives up what waits: the person does something else. */
export const giveUpSending = (): void => put(null);

/** Whether something waits for a person. */
export function useIsSenderAsked(): boolean {
  const [isAsked, setIsAsked] = useState(wanted !== null);
  useEffect(() => {
    const changed = (next: Send | null) => setIsAsked(next !== null);
    listeners.add(changed);
    return () => void listeners.delete(changed);
  }, []);
  return isAsked;
}
