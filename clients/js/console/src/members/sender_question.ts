// What the operator wants to send before a person is chosen. The menu below the message box asks
// for one, and the choice sends it.

import { sharedValue } from '../ui/shared_value.ts';

type Send = (senderId: string) => void;

/** The id of the menu. */
export const SENDER_MENU = 'sender';

const wanted = sharedValue<Send | null>(null);

/** Opens the menu, and calls `send` with the person who is chosen there. */
export function askForSender(send: Send): void {
  const menu = document.getElementById(SENDER_MENU);
  if (!(menu instanceof HTMLSelectElement)) return;
  menu.focus();
  wanted.set(send);
  try {
    menu.showPicker();
  } catch {
    // An older browser can't. The menu has the focus, and says what it is for.
  }
}

/** Sends what waits for a person. */
export function answerWith(senderId: string): void {
  const send = wanted.get();
  wanted.set(null);
  send?.(senderId);
}

/** Gives up what waits: the person does something else. */
export const giveUpSending = (): void => wanted.set(null);

/** Whether something waits for a person. */
export const useIsSenderAsked = (): boolean => wanted.use() !== null;
